import { type Case, PLAIN, per } from "./case.ts";

export const PLAIN_CASES: readonly Case[] = [
  {
    name: "json-1",
    says: "small plain replies, one connection",
    async run(stage) {
      const tally = await stage.group({ ...PLAIN, until: { seconds: stage.quick ? 0.3 : 2 } });
      return { "p50 us": tally.latency.p50, "p99 us": tally.latency.p99 };
    },
  },
  {
    name: "json-64",
    says: "small plain replies, 64 connections",
    async run(stage) {
      const tally = await stage.group({ ...PLAIN, connections: 64, until: { seconds: stage.quick ? 0.5 : 3 } });
      return {
        "requests/s": tally.answers / tally.seconds,
        "p99 ms": tally.latency.p99 / 1000,
        ...per("CPU us/request", tally.cpu, tally.answers),
      };
    },
  },
];
