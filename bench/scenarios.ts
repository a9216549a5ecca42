import { english } from "./english.ts";

/** What the fake server does for each model that it lists. The load generator asks by these names. */
export const SCENARIOS = {
  /** A small reply at once. */
  plain: { window: 131_072, chunks: 0, everyMs: 0, continues: false },
  /** The same, with a window so small that a prompt of 100,000 bytes has to be counted. */
  tight: { window: 90_000, chunks: 0, everyMs: 0, continues: false },
  /** A stream that is written as fast as it can be. */
  burst: { window: 131_072, chunks: 200, everyMs: 0, continues: false },
  /** The same, shorter and longer. */
  burst50: { window: 131_072, chunks: 50, everyMs: 0, continues: false },
  burst800: { window: 131_072, chunks: 800, everyMs: 0, continues: false },
  burst3200: { window: 131_072, chunks: 3200, everyMs: 0, continues: false },
  /** A stream at the pace of a fast model. */
  paced: { window: 131_072, chunks: 80, everyMs: 10, continues: false },
  /** A stream that is hardly alive. */
  held: { window: 131_072, chunks: 600, everyMs: 1000, continues: false },
  /** Obeys `max_tokens`, and resumes its own message. */
  resumed: { window: 131_072, chunks: 200, everyMs: 0, continues: true },
  /** Obeys `max_tokens`, and goes on when a user turn asks it to, beginning with the last words where told so. */
  nudged: { window: 131_072, chunks: 200, everyMs: 0, continues: true },
} as const satisfies Record<string, Scenario>;

export interface Scenario {
  /** Tokens. */
  readonly window: number;
  /** Tokens of a whole reply, one in each chunk. 0: a plain body. */
  readonly chunks: number;
  /** Milliseconds between two chunks; 0: all at once. */
  readonly everyMs: number;
  readonly continues: boolean;
}

export type ModelName = keyof typeof SCENARIOS;

/** A token of a paced reply tells its number and when it was written, in microseconds. Always of one length. */
export function stampText(index: number, at: number): string {
  return ` ${digits(index, 5)}.${digits(at, 14)}`;
}

/** All stamps in a text. */
export const STAMP = / (\d{5})\.(\d{14})/g;

const digits = (value: number, width: number) => String(Math.round(value)).padStart(width, "0");

/** The tokens of the reply that can be gone on with: words, and the same whenever they are said. */
export const RECITAL: readonly string[] = english(1, 2000).trim().split(/(?= )/).slice(0, SCENARIOS.resumed.chunks);

/** Characters of its first tokens. */
export function recitedLength(tokens: number): number {
  return RECITAL.slice(0, tokens).join("").length;
}

/** What is left of it behind so many characters. */
export function recitalFrom(said: number): string[] {
  let end = 0;
  return RECITAL.flatMap((token) => {
    end += token.length;
    return end > said ? [token.slice(-Math.min(token.length, end - said))] : [];
  });
}
