import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { chat, post } from "./client.ts";
import { KINDS, type Kind } from "./kinds.ts";
import { type Stage, startStage } from "./stage.ts";

const MIB = 1024 * 1024;
/** Milliseconds for which a small request may be held up: whatever comes beside it, and for each MiB of bodies above 4 MiB. */
const MOST_MS = 50;
const MOST_MS_PER_MIB = 10;
/** Of several rounds the best counts: this process and others disturb, and only ever to the worse. */
const ROUNDS = 3;

/**
 * Longest turn of lastword's event loop since it was asked last, in milliseconds: by the clock, or by the processor's time where other
 * processes took it away meanwhile.
 */
const WATCH = `(() => {
  const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  let last = [performance.now(), spent()];
  globalThis.longest = 0;
  const turn = () => {
    const now = [performance.now(), spent()];
    globalThis.longest = Math.max(globalThis.longest, Math.min(now[0] - last[0], now[1] - last[1]));
    last = now;
    setImmediate(turn);
  };
  turn();
})()`;
const TAKE = "(() => { const longest = globalThis.longest; globalThis.longest = 0; return longest; })()";

/** Every hostile kind by itself, with small requests beside it. */
export async function hostile(only: string | undefined): Promise<boolean> {
  const stage = await startStage({
    limits: { firstByteSeconds: 30, idleSeconds: 30 },
    recovery: { maxAttempts: 2, retryBackoffSeconds: [] },
  });
  let good = true;
  try {
    for (let i = 0; i < 20; i++) await small(stage, undefined);
    await stage.inspector.evaluate(WATCH);
    console.log("hostile input: longest turn of the event loop, slowest small request beside it, limit (ms)");
    for (const kind of KINDS) {
      if (only !== undefined && !kind.name.includes(only)) continue;
      const body = kind.body();
      const limit = limitOf(kind, body);
      let best = { turn: Number.POSITIVE_INFINITY, beside: Number.POSITIVE_INFINITY, end: "" };
      for (let round = 0; round < ROUNDS && (best.turn > limit || best.beside > limit); round++) {
        const got = await oneRound(stage, kind, body);
        if (got.turn < best.turn) best = got;
      }
      const holds = best.turn <= limit;
      good &&= holds;
      const figures = [best.turn, best.beside, limit].map((ms) => ms.toFixed(0).padStart(6)).join("");
      console.log(`  ${kind.name.padEnd(42)}${figures}  ${holds ? "ok" : "OVER"}  ${best.end}`);
    }
    const complaints = stage.complaints().trim();
    if (complaints !== "") console.log(`  complaints: ${complaints.slice(0, 2_000)}`);
  } finally {
    await stage.stop();
  }
  return good;
}

function limitOf({ answerMiB = 0 }: Kind, body: string): number {
  const mib = Math.max(Buffer.byteLength(body) / MIB, answerMiB);
  return mib > 4 ? Math.max(MOST_MS, mib * MOST_MS_PER_MIB) : MOST_MS;
}

async function oneRound(stage: Stage, { path = "/v1/chat/completions", headers = {} }: Kind, body: string) {
  await sleep(100);
  await stage.inspector.evaluate(TAKE);
  const agent = new Agent({ keepAlive: true });
  let over = false;
  let beside = 0;
  const probe = (async () => {
    while (!over) {
      beside = Math.max(beside, await small(stage, agent));
      await sleep(2);
    }
  })();
  const sent = post(stage.url + path, body, headers);
  const status = await sent.head.then(
    (response) => response.statusCode,
    (error: Error) => error.message,
  );
  const answer = await Promise.race([sent.body, sleep(30_000, null)]);
  sent.leave();
  over = true;
  await probe;
  agent.destroy();
  const turn = await stage.inspector.evaluate<number>(TAKE);
  return { turn, beside, end: `${status} ${answer === null ? "did not end" : ending(answer)}` };
}

function ending(answer: Buffer): string {
  const tail = answer.subarray(-400).toString().trim();
  const code = /"code":"(\w+)"/.exec(tail)?.[1];
  const reason = /"finish_reason":"(\w+)"/.exec(tail)?.[1];
  return `${code ?? reason ?? (tail.endsWith("[DONE]") ? "[DONE]" : tail.slice(-40))}`;
}

/** Milliseconds of a small request that comes between. */
async function small(stage: Stage, agent: Agent | undefined): Promise<number> {
  const startedAt = performance.now();
  const sent = post(`${stage.url}/v1/chat/completions`, chat("calm", "small", { stream: false }), {}, agent);
  await sent.body;
  return performance.now() - startedAt;
}
