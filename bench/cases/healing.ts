import type { Stage } from "../stage.ts";
import { type Case, type Figures, PLAIN, per } from "./case.ts";

/** A cut half-way through a reply of 200 tokens, above the caps that are always honoured. */
const HALF = 100;

/** The same replies, untouched and cut in the middle, from a server that resumes and from one that is asked to go on. */
export const HEALING_CASES: readonly Case[] = [
  healed("resumed untouched", "resumed", null),
  healed("resumed", "resumed", HALF),
  healed("nudged", "nudged", HALF),
  seam("resumed"),
  seam("nudged"),
];

function healed(title: string, model: "resumed" | "nudged", cap: number | null): Case {
  const what = cap === null ? "none of them cut" : "each cut once and healed";
  return {
    name: `heal-${title.replace(" ", "-")}`,
    says: `32 connections, ${model} replies of 200 tokens as fast as they can, ${what}`,
    only: ["lastword"],
    async run(stage) {
      const until = { seconds: stage.quick ? 0.7 : 3 };
      const tally = await stage.group({ ...PLAIN, model, stream: true, cap, connections: 32, until });
      return {
        "k chunks/s": tally.chunks / tally.seconds / 1000,
        ...per("CPU us/chunk", tally.cpu, tally.chunks),
        ...per("CPU us/reply", tally.cpu, tally.answers),
      };
    },
  };
}

function seam(model: "resumed" | "nudged"): Case {
  return {
    name: `seam-${model}`,
    says: "the gap that a client sees at a seam, less the server's time",
    only: ["lastword"],
    async run(stage: Stage): Promise<Figures> {
      const until = { requests: stage.quick ? 60 : 300 };
      await stage.heldByServer();
      const { seam } = await stage.group({ ...PLAIN, model, stream: true, cap: HALF, until });
      const held = await stage.heldByServer();
      const passes = 1 + held.count / seam.count;
      return {
        "gap p50 us": seam.p50 - held.p50,
        "gap p99 us": seam.p99 - held.p50,
        "server p50 us": held.p50,
        passes,
      };
    },
  };
}
