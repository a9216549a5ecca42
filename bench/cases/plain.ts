import { childrenOf, cpuMicros } from "../machine.ts";
import type { Stage } from "../stage.ts";
import { type Case, type Figures, PLAIN, per } from "./case.ts";

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
  {
    name: "workers",
    says: "small plain replies, 64 connections, one process and two",
    only: ["lastword"],
    async run(stage) {
      const one = await stage.withWorkers(1, working);
      const two = await stage.withWorkers(2, working);
      const { "CPU us/request": alone = 0 } = one;
      const { "CPU us/request": shared = 0, ...shares } = two;
      return { "one, us/request": alone, "two, us/request": shared, ...shares };
    },
  },
];

/** CPU per request of all its processes, and of the least busy process of several against the busiest. */
async function working(stage: Stage): Promise<Figures> {
  const load = { ...PLAIN, connections: 64 };
  await stage.group({ ...load, until: { seconds: stage.quick ? 1 : 3 } });
  const processes = childrenOf(stage.running.process?.pid ?? 0);
  const before = processes.map((pid) => cpuMicros(pid) ?? 0);
  const tally = await stage.group({ ...load, until: { seconds: stage.quick ? 1 : 3 } });
  const spent = processes.map((pid, at) => (cpuMicros(pid) ?? 0) - (before[at] ?? 0));
  const evenness = spent.length > 1 ? { "least to most": Math.min(...spent) / Math.max(...spent) } : {};
  return { ...per("CPU us/request", tally.cpu, tally.answers), ...evenness };
}
