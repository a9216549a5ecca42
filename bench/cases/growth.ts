import type { Group } from "../load/job.ts";
import type { Stage } from "../stage.ts";
import { type Case, type Figures, PLAIN, per } from "./case.ts";

/** How cost grows: each of these should be flat, or linear. */
export const GROWTH_CASES: readonly Case[] = [
  growth("prompt", "CPU us/request by size of an unseen prompt", [1, 10, 100, 400], async (stage, kilobytes) => {
    const requests = stage.quick ? 20 : 100;
    const tally = await stage.group({ ...PLAIN, prompt: { kilobytes }, until: { requests } });
    return per(`${kilobytes} KB`, tally.cpu, tally.answers);
  }),
  growth(
    "turns",
    "CPU us/request over a conversation that grows by 1 KB a turn, by its length",
    [1, 8, 64],
    async (stage, turns) => {
      const requests = turns * Math.ceil((stage.quick ? 64 : 512) / turns);
      const tally = await stage.group({ ...PLAIN, prompt: { turns }, until: { requests } });
      return per(`${turns} turns`, tally.cpu, tally.answers);
    },
  ),
  growth("reply", "CPU us/chunk of a burst, by its length", [50, 200, 800, 3200] as const, async (stage, chunks) => {
    const model = chunks === 200 ? "burst" : (`burst${chunks}` as const);
    const until = { requests: Math.ceil((stage.quick ? 20_000 : 200_000) / chunks) };
    const tally = await stage.group({ ...STREAM, model, connections: 8, until });
    return per(`${chunks} chunks`, tally.cpu, tally.chunks);
  }),
  growth("streams", "CPU us/chunk of paced streams, by their number", [4, 16, 64, 256], async (stage, connections) => {
    const tally = await stage.group({ ...STREAM, model: "paced", connections, until: { requests: connections } });
    return per(`${connections} streams`, tally.cpu, tally.chunks);
  }),
];

const STREAM: Group = { ...PLAIN, stream: true };

function growth<N extends number>(
  what: string,
  says: string,
  sizes: readonly N[],
  measure: (stage: Stage, size: N) => Promise<Figures>,
): Case {
  return {
    name: `growth-${what}`,
    says,
    only: ["nginx", "lastword"],
    long: true,
    async run(stage) {
      const all: Figures[] = [];
      for (const size of sizes) all.push(await measure(stage, size));
      return Object.assign({}, ...all);
    },
  };
}
