import { type Counter, createCounter } from "../../src/budget/count.ts";
import { TokenizerThread } from "../../src/budget/tokenizer/thread.ts";
import { createMeasurer } from "../../src/budget/tokenizers.ts";
import type { Piece } from "../../src/core/ask.ts";
import { HOSTILE, TEXTS, type Text } from "./texts.ts";

const PROMPT_BYTES = 400_000;
const MESSAGES = 40;
const ROUNDS = 9;

export interface Cost {
  readonly text: string;
  readonly bytes: number;
  /** Milliseconds from the call to the count, medians. */
  readonly unseen: number;
  readonly nextTurn: number;
  readonly seen: number;
  /** Longest time in which the loop did nothing else, in milliseconds. */
  readonly held: number;
}

/** A prompt of 400 kB nobody has seen, the next turn of it, and the same again, each through the thread. */
export async function costs(): Promise<{ readonly load: number; readonly rows: Cost[]; readonly hostile: Cost[] }> {
  const thread = new TokenizerThread();
  try {
    const startedAt = performance.now();
    await thread.warm("o200k");
    const load = performance.now() - startedAt;
    const counter = createCounter(createMeasurer(thread.measure));
    const rows: Cost[] = [];
    for (const [name, text] of Object.entries(TEXTS)) rows.push(await costOf(counter, name, text));
    const hostile: Cost[] = [];
    for (const [name, text] of Object.entries(HOSTILE))
      hostile.push(await costOf(counter, name, (_, seed) => `${seed}\n${text}`, 1));
    return { load, rows, hostile };
  } finally {
    await thread.close();
  }
}

async function costOf(counter: Counter, name: string, text: Text, messages = MESSAGES): Promise<Cost> {
  const unseen: number[] = [];
  const nextTurn: number[] = [];
  const seen: number[] = [];
  const held: number[] = [];
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const pieces: Piece[] = Array.from({ length: messages }, (_, i) => ({
      kind: "text",
      role: "user",
      text: text(PROMPT_BYTES / messages, 1000 * round + i),
      opens: true,
    }));
    const more: Piece = { kind: "text", role: "user", text: text(500, 1000 * round + 999).slice(-500), opens: true };
    const target = { upstream: "u", model: "m", bodyBytes: 2 * PROMPT_BYTES };
    bytes = pieces.reduce((sum, piece) => sum + (piece.kind === "text" ? Buffer.byteLength(piece.text) : 0), 0);
    const probe = loopProbe();
    unseen.push(await timed(() => counter.count(pieces, target)));
    held.push(await probe.stop());
    nextTurn.push(await timed(() => counter.count([...pieces, more], target)));
    seen.push(await timed(() => counter.count(pieces, target)));
  }
  return {
    text: name,
    bytes,
    unseen: median(unseen),
    nextTurn: median(nextTurn),
    seen: median(seen),
    held: Math.max(...held),
  };
}

async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** The longest gap between two turns of the loop. */
function loopProbe() {
  let last = performance.now();
  let longest = 0;
  let running = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    async stop(): Promise<number> {
      await new Promise((resolve) => setImmediate(resolve));
      running = false;
      return longest;
    },
  };
}

/** Megabytes of resident memory that 1,000 different prompts of 400 kB leave behind. */
export async function memoryGrowth(): Promise<number> {
  const thread = new TokenizerThread();
  try {
    const counter = createCounter(createMeasurer(thread.measure));
    const english = TEXTS.English;
    if (english === undefined) throw new Error("no English");
    const prompts = async (from: number, to: number) => {
      for (let seed = from; seed < to; seed++) {
        const text = english(PROMPT_BYTES, seed);
        await counter.count([{ kind: "text", role: "user", text, opens: true }], {
          upstream: "u",
          model: "m",
          bodyBytes: PROMPT_BYTES,
        });
      }
      globalThis.gc?.();
      return process.memoryUsage().rss;
    };
    const before = await prompts(0, 20);
    return ((await prompts(20, 1020)) - before) / 1e6;
  } finally {
    await thread.close();
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
