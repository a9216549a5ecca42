import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asObject } from "../../src/core/json.ts";
import { type Plain, postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { type Engine, present, recitals, startEngine } from "./engine.ts";

const CAPS = [65, 97, 160, 300];
const texts = recitals.filter(
  (recital) => recital.content !== "" && recital.reasoning_content === undefined && recital.tool_call === undefined,
);

describe.skipIf(!present)("chat through lastword, in front of a real llama-server", () => {
  let engine: Engine;
  let proxy: Lastword;
  beforeAll(async () => {
    engine = await startEngine(2048);
    proxy = await startProxy(engine);
  }, 60_000);
  afterAll(async () => {
    await proxy?.close();
    await engine?.[Symbol.asyncDispose]();
  });

  for (const { name, messages, content, completion_tokens } of texts) {
    it.each(CAPS)(`${name} is whole at a cap of %i tokens, streamed and plain`, async (max_tokens) => {
      const body = { model: "reciter", messages, max_tokens, temperature: 0 };
      const streamed = await postStream(`${proxy.url}/chat/completions`, body);
      expect(streamed.text()).toBe(content);
      expect(streamed.finish()).toBe("stop");
      const plain = await postPlain(`${proxy.url}/chat/completions`, body);
      expect(textOf(plain)).toBe(content);
      expect(plain.json).toMatchObject({ choices: [{ finish_reason: "stop" }] });
      // What the server puts in front again was not generated again. A character cut in half costs up to two tokens more.
      const { completion_tokens: told } = asObject(plain.json?.usage) ?? {};
      expect([0, 1, 2]).toContain(Number(told) - completion_tokens);
      const straight = await postPlain(`${engine.url}/chat/completions`, body);
      const cut = completion_tokens > max_tokens;
      expect(straight.json).toMatchObject({ choices: [{ finish_reason: cut ? "length" : "stop" }] });
      if (cut) expect(textOf(straight)).not.toBe(content);
    });
  }
});

function textOf(plain: Plain): unknown {
  const choices = plain.json?.choices;
  return Array.isArray(choices) ? (choices[0] as { message: { content: unknown } }).message.content : undefined;
}
