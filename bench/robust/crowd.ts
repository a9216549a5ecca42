import { setTimeout as sleep } from "node:timers/promises";
import { micros } from "../clock.ts";
import { chat, post } from "./client.ts";
import { type Stage, startStage } from "./stage.ts";

const CHUNKS = 40;
const EVERY_MS = 250;
/** Clients that begin within so many milliseconds. */
const WITHIN_MS = 2_000;

/** Streams of a paced server, all at once: none lost, none mixed up; what each costs in memory and in latency. */
export async function crowd(count: number): Promise<boolean> {
  const stage = await startStage();
  try {
    for (let i = 0; i < 20; i++) await one(stage, `warm${i}`, 2, 10, []);
    const before = stage.resident();
    const heapBefore = await stage.inspector.usedHeap();
    const lags: number[] = [];
    const streams = Array.from({ length: count }, async (_, i) => {
      await sleep((i * WITHIN_MS) / count);
      return await one(stage, `c${i}`, CHUNKS, EVERY_MS, lags);
    });
    await sleep(WITHIN_MS + 1_500);
    const live = ((await (await fetch(`${stage.url}/status`)).json()) as { live: unknown[] }).live.length;
    const during = stage.resident();
    const heapDuring = await stage.inspector.usedHeap();
    const wrong = (await Promise.all(streams)).filter((good) => !good).length;
    lags.sort((a, b) => a - b);
    const quantile = (share: number) => ((lags[Math.floor(share * (lags.length - 1))] ?? 0) / 1000).toFixed(1);
    console.log(`crowd: ${count} streams of ${CHUNKS} chunks, one every ${EVERY_MS} ms; ${live} at once`);
    console.log(`  lost, mixed up or not whole: ${wrong}`);
    console.log(
      `  memory per stream: ${((during - before) / live).toFixed(1)} KiB resident, ${((heapDuring - heapBefore) / 1024 / live).toFixed(1)} KiB of heap`,
    );
    console.log(
      `  from the server's write to the client: median ${quantile(0.5)} ms, 99 % ${quantile(0.99)} ms (both ends included)`,
    );
    return wrong === 0 && live === count;
  } finally {
    await stage.stop();
  }
}

/** Whether the reply is this client's own, whole and in order. `lags`: microseconds from the server's write to here. */
async function one(stage: Stage, id: string, chunks: number, everyMs: number, lags: number[]): Promise<boolean> {
  const sent = post(`${stage.url}/v1/chat/completions`, chat(`paced-${chunks}-${everyMs}`, id));
  const response = await sent.head;
  let text = "";
  for await (const piece of response) {
    const now = micros();
    const arrived = (piece as Buffer).toString();
    for (const [, at] of arrived.matchAll(/:(\d+);/g)) lags.push(now - Number(at));
    text += arrived;
  }
  const said = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content ?? "");
  const expected = said.every((content, n) => content.startsWith(`${id}:${n}:`));
  return said.length === chunks && expected && text.trimEnd().endsWith("[DONE]");
}
