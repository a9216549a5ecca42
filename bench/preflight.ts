import { PLAIN } from "./cases/case.ts";
import { large, SMALL } from "./load/prompts.ts";
import type { Stage } from "./stage.ts";

/** Sees to it that a contender answers and streams at all, and warms it up. @throws Error where it does not */
export async function warmUp(stage: Stage): Promise<void> {
  const seconds = stage.quick ? 1 : 2;
  await stage.group({ ...PLAIN, connections: 8, until: { seconds } });
  await stage.group({ ...PLAIN, model: "burst", stream: true, connections: 8, until: { seconds } });
  await stage.group({ ...PLAIN, prompt: "seen", until: { requests: stage.quick ? 2 : 5 } });
}

/** In place of a header that is missing. */
export const NOT_TOLD = "not told";

/** What lastword says of its budget, to show that it is on: for a small prompt and for one that has to be counted. */
export async function budgetInForce({ running: { port } }: Stage): Promise<string> {
  const says = async (messages: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "plain", max_tokens: 256, messages }),
    });
    await answer.arrayBuffer();
    const header = (name: string) => answer.headers.get(`x-lastword-${name}`) ?? NOT_TOLD;
    return `${header("prompt-tokens")} of ${header("window")} tokens (${header("window-source")}, ${header("count-method")})`;
  };
  return `a small prompt is ${await says(SMALL)}, a large one ${await says(large(1))}`;
}
