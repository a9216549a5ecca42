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

async function idleHeldLoaded(stage: Stage): Promise<Figures> {
  const streams = stage.quick ? 200 : 500;
  await stage.group({ ...PLAIN, until: { requests: 3 } });
  await stage.group({ ...PLAIN, model: "burst", stream: true, until: { requests: 3 } });
  const idle = await settledMb(stage);

  const held = { ...PLAIN, model: "held", stream: true, connections: streams, spreadMs: 300 } as const;
  const seconds = stage.quick ? 1 : 3;
  const holding = stage.drive([{ ...held, until: { requests: streams } }], seconds);
  await sleep(seconds * 1000 - 200);
  const open = memory(stage);
  await holding;

  await stage.group({ ...PLAIN, connections: 64, until: { seconds: seconds / 2 } });
  await stage.group({ ...PLAIN, model: "burst", stream: true, connections: 32, until: { seconds: seconds / 2 } });
  const loaded = await settledMb(stage);
  return { "idle MB": idle, "kB/stream": ((open - idle) * 1024) / streams, "after load MB": loaded };
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
