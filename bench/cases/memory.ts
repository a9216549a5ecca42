import { setTimeout as sleep } from "node:timers/promises";
import { residentMb } from "../machine.ts";
import type { Stage } from "../stage.ts";
import { type Case, type Figures, PLAIN } from "./case.ts";

/** Each in a process of its own, from its start. */
export const MEMORY_CASES: readonly Case[] = [
  {
    name: "memory",
    says: "resident memory: idle after a few requests, for each open stream, after load",
    only: ["nginx", "hono", "lastword"],
    rounds: 1,
    run: (stage) => stage.withFresh(idleHeldLoaded),
  },
  {
    name: "memory-prompts",
    says: "resident memory after 50 different 400 KB prompts, and its growth by 1,000 more (100 with --quick)",
    only: ["lastword"],
    rounds: 1,
    run: (stage) =>
      stage.withFresh(async (fresh) => {
        const prompts = { ...PLAIN, prompt: "unseen" } as const;
        await fresh.group({ ...prompts, until: { requests: 50 } });
        const before = await settledMb(fresh);
        await fresh.group({ ...prompts, until: { requests: stage.quick ? 100 : 1000 } }, 120);
        return { "before MB": before, "growth MB": (await settledMb(fresh)) - before };
      }),
  },
];

/** So many that the garbage of a process, some MB of it, does not matter. */
const STREAMS = 500;
/** Long enough for every contender to have opened them all. */
const HELD_SECONDS = 4;

async function idleHeldLoaded(stage: Stage): Promise<Figures> {
  await stage.group({ ...PLAIN, until: { requests: 3 } });
  await stage.group({ ...PLAIN, model: "burst", stream: true, until: { requests: 3 } });
  const idle = await settledMb(stage);

  const held = { ...PLAIN, model: "held", stream: true, connections: STREAMS, spreadMs: 300 } as const;
  const holding = stage.drive([{ ...held, until: { requests: STREAMS } }], HELD_SECONDS);
  const open = await peakMb(stage, holding);
  const { load } = (await holding).tallies;
  if (load?.firstToken.count !== STREAMS)
    throw new Error(`only ${load?.firstToken.count} of ${STREAMS} streams opened`);

  const seconds = stage.quick ? 0.8 : 3;
  await stage.group({ ...PLAIN, connections: 64, until: { seconds } });
  await stage.group({ ...PLAIN, model: "burst", stream: true, connections: 32, until: { seconds } });
  const loaded = await settledMb(stage);
  return { "idle MB": idle, "kB/stream": ((open - idle) * 1024) / STREAMS, "after load MB": loaded };
}

/** The most that it held while this went on. */
async function peakMb(stage: Stage, work: Promise<unknown>): Promise<number> {
  const ended = work.then(() => true);
  let peak = memory(stage);
  while (!(await Promise.race([ended, sleep(100, false)]))) peak = Math.max(peak, memory(stage));
  return peak;
}

async function settledMb(stage: Stage): Promise<number> {
  await sleep(500);
  return memory(stage);
}

/** @throws Error where the machine does not tell */
function memory({ running }: Stage): number {
  const mb = running.process === null ? null : residentMb(running.process.pid);
  if (mb === null) throw new Error("this machine does not tell how much memory a process holds");
  return mb;
}
