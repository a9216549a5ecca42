import { setTimeout as sleep } from "node:timers/promises";
import { micros } from "../clock.ts";
import { chat, post } from "./client.ts";
import { type Stage, startStage } from "./stage.ts";

/** How clients leave: at once, at any moment of what the server does, or not at all. */
const MODELS = ["whole", "silent", "talking", "busy", "cut"] as const;
const CLIENTS = 12;
/** A client that has left does not come again at once: what is measured is lastword, not its backlog. */
const PAUSE_MS = 80;

/** 5,000 requests of clients that mostly leave; then nothing may be left of them. */
export async function leaks(count: number): Promise<boolean> {
  const stage = await startStage({
    limits: { maxInflight: 16, maxQueued: 200 },
    recovery: { retryBackoffSeconds: [0.05, 0.1], honourCapsUpTo: 0 },
  });
  try {
    await crowd(stage, Math.min(1_000, count), "warm");
    const before = await look(stage);
    const left = await crowd(stage, count, "run");
    const after = await look(stage);
    const { closed, open } = await stage.ask<{ closed: [string, number][]; open: number }>("closed");
    const closedAt = new Map(closed);
    const lags = [...left]
      .map(([id, at]) => ((closedAt.get(id) ?? Number.NaN) - at) / 1000)
      .filter((ms) => !Number.isNaN(ms))
      .sort((a, b) => a - b);
    const quantile = (share: number) => (lags[Math.floor(share * (lags.length - 1))] ?? 0).toFixed(1);
    console.log(`leaks: ${count} requests, ${left.size} clients left early`);
    console.log(
      `  upstream closed after the client left: median ${quantile(0.5)} ms, 99 % ${quantile(0.99)} ms, last ${quantile(1)} ms (of ${lags.length} that had one)`,
    );
    console.log(`  before ${JSON.stringify(before)}`);
    console.log(`  after  ${JSON.stringify(after)}, ${open} sockets open at the server`);
    const grown = after.heap / before.heap - 1;
    console.log(`  heap ${(100 * grown).toFixed(1)} %; complaints: ${stage.complaints().trim() || "none"}`);
    return (
      grown < 0.1 &&
      after.live === 0 &&
      after.sockets <= before.sockets + CLIENTS &&
      after.timers <= before.timers + 2 &&
      after.listeners <= before.listeners + 2
    );
  } finally {
    await stage.stop();
  }
}

/** @returns when the clients that left did so, by id */
async function crowd(stage: Stage, count: number, run: string): Promise<Map<string, number>> {
  const left = new Map<string, number>();
  let next = 0;
  async function client(): Promise<void> {
    for (let n = next++; n < count; n = next++) {
      const id = `${run}${n}`;
      const model = MODELS[n % MODELS.length] ?? "whole";
      const stream = n % 7 !== 0;
      const sent = post(`${stage.url}/v1/chat/completions`, chat(model, id, { stream, max_tokens: 500 }));
      const stays = model === "whole" && n % 2 === 0;
      if (!stays) {
        await Promise.race([sleep(Math.random() * 40), sent.body]);
        left.set(id, micros());
        sent.leave();
        await sleep(PAUSE_MS);
      }
      await sent.body;
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return left;
}

async function look(
  stage: Stage,
): Promise<{ heap: number; sockets: number; timers: number; live: number; listeners: number; resident: number }> {
  await sleep(1_500);
  const resources = await stage.inspector.resources();
  const status = (await (await fetch(`${stage.url}/status`)).json()) as { live: unknown[] };
  const listeners = await stage.inspector.evaluate<number>(
    "process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)",
  );
  return {
    heap: await stage.inspector.usedHeap(),
    sockets: stage.sockets(),
    timers: resources.Timeout ?? 0,
    live: status.live.length,
    listeners,
    resident: stage.resident(),
  };
}
