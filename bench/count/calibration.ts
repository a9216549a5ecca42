import { readFile } from "node:fs/promises";
import { createCounter } from "../../src/budget/count.ts";
import { TokenizerThread } from "../../src/budget/tokenizer/thread.ts";
import { createMeasurer } from "../../src/budget/tokenizers.ts";
import { conversation, requestsOf } from "../../test/budget/conversations.ts";

export interface Narrowing {
  readonly replies: string;
  readonly requests: number;
  /** Shares of the true count. */
  readonly medianError: number;
  readonly medianBound: number;
  readonly outside: number;
}

const STAGES: readonly (readonly [number, number])[] = [
  [0, 1],
  [1, 20],
  [20, 100],
  [100, 500],
  [500, 3000],
];

/** How the bound of an unknown model narrows with its replies, against the counts of a real llama-server. */
export async function narrowing(): Promise<Narrowing[]> {
  const recorded = JSON.parse(await readFile("test/budget/reciter-counts.json", "utf8")) as {
    conversations: number;
    tokens: number[];
  };
  const thread = new TokenizerThread();
  try {
    const counter = createCounter(createMeasurer(thread.measure));
    const seen: { error: number; bound: number; inside: boolean }[] = [];
    for (let seed = 0; seed < recorded.conversations; seed++) {
      for (const { body, pieces } of requestsOf(conversation(seed))) {
        const truth = recorded.tokens[seen.length] ?? 0;
        const target = { upstream: "u", model: "m", bodyBytes: Buffer.byteLength(JSON.stringify(body)) };
        const count = await counter.count(pieces, target);
        const error = Math.abs(count.tokens - truth);
        seen.push({ error: error / truth, bound: count.bound / truth, inside: error <= count.bound });
        counter.learn(count, target, truth);
      }
    }
    return STAGES.map(([from, to]) => {
      const some = seen.slice(from, to);
      return {
        replies: `${from} to ${Math.min(to, seen.length)}`,
        requests: some.length,
        medianError: median(some.map(({ error }) => error)),
        medianBound: median(some.map(({ bound }) => bound)),
        outside: some.filter(({ inside }) => !inside).length,
      };
    });
  } finally {
    await thread.close();
  }
}

/** What llama-server counts for each generated request, as the test's recording holds it. @param url its address */
export async function record(url: string): Promise<{ readonly conversations: number; readonly tokens: number[] }> {
  const tokens: number[] = [];
  let conversations = 0;
  for (; tokens.length < 2000; conversations++) {
    for (const { body } of requestsOf(conversation(conversations))) {
      const response = await fetch(`${url}/v1/chat/completions/input_tokens`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const counted = (await response.json()) as { input_tokens: number };
      tokens.push(counted.input_tokens);
    }
  }
  return { conversations, tokens };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
