import type { Prompt } from "../load/job.ts";
import { HOSTILE, type HostileKind } from "../load/prompts.ts";
import { whole } from "../stage.ts";
import { type Case, type Figures, PLAIN, per } from "./case.ts";

function large(prompt: Prompt & string): Case {
  return {
    name: `prompt-${prompt}`,
    says: `plain replies to a 400 KB prompt in 41 messages, ${prompt} before`.replace(
      "unseen before",
      "never seen before",
    ),
    async run(stage) {
      const requests = stage.quick ? 12 : 60;
      const tally = await stage.group({ ...PLAIN, prompt, until: { requests } });
      return {
        "p50 ms": tally.latency.p50 / 1000,
        "p99 ms": tally.latency.p99 / 1000,
        ...per("CPU ms/request", inMs(tally.cpu), requests),
      };
    },
  };
}

const inMs = (microseconds: number | null) => (microseconds === null ? null : microseconds / 1000);

/** The first requests load vocabularies and warm up; they are not what is measured. */
const WARM_UP = { ...PLAIN, prompt: "unseen", until: { requests: 10 } } as const;

export const PROMPT_CASES: readonly Case[] = [
  large("seen"),
  large("unseen"),
  {
    name: "prompt-loop",
    says: "how long unseen 400 KB prompts hold the event loop",
    only: ["lastword"],
    run: (stage) =>
      stage.withProbe(async (probed, held) => {
        await probed.group(WARM_UP);
        await held();
        await probed.group({ ...PLAIN, prompt: "unseen", until: { requests: stage.quick ? 15 : 60 } });
        return { "loop held ms": await held() };
      }),
  },
  {
    name: "mixed",
    says: "32 paced streams beside two connections with unseen 400 KB prompts back to back",
    async run(stage) {
      const { tallies } = await stage.drive([
        {
          ...PLAIN,
          name: "streams",
          model: "paced",
          stream: true,
          connections: 32,
          spreadMs: 40,
          until: { requests: 32 },
        },
        { ...PLAIN, name: "prompts", prompt: "unseen", connections: 2, until: "the others" },
      ]);
      const { streams, prompts } = tallies;
      if (streams === undefined || prompts === undefined) throw new Error("no tally");
      return {
        "delay p50 ms": whole(streams).delay.p50 / 1000,
        "delay p99 ms": streams.delay.p99 / 1000,
        "prompts/s": whole(prompts).answers / prompts.seconds,
      };
    },
  },
  {
    name: "hostile",
    says: "one message of 100,000 characters made to hurt a tokenizer: time until the answer (some are refused), loop",
    only: ["direct", "lastword"],
    rounds: 1,
    async run(stage) {
      if (stage.contender === "direct") return hostile(stage, async () => 0);
      return stage.withProbe(async (probed, held) => {
        await probed.group(WARM_UP);
        return hostile(probed, held);
      });
    },
  },
];

async function hostile(stage: Parameters<Case["run"]>[0], held: () => Promise<number>): Promise<Figures> {
  const figures: Record<string, number> = {};
  await held();
  for (const kind of Object.keys(HOSTILE) as HostileKind[]) {
    const group = {
      ...PLAIN,
      model: "tight",
      prompt: { hostile: kind },
      until: { requests: stage.quick ? 3 : 10 },
    } as const;
    const { tallies } = await stage.drive([group]);
    const { load } = tallies;
    if (load === undefined || load.failures > 0) throw new Error(`${kind}: ${load?.complaint}`);
    figures[`${kind} ms`] = load.latency.p50 / 1000;
    figures[`${kind}, loop ms`] = await held();
  }
  return figures;
}
