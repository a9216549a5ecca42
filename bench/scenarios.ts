/** What the fake server does for each model that it lists. The load generator asks by these names. */
export const SCENARIOS = {
  /** A small reply at once. */
  plain: { window: 131_072, chunks: 0, everyMs: 0, continues: false },
  /** The same, with a window so small that a prompt of 100,000 bytes has to be counted. */
  tight: { window: 90_000, chunks: 0, everyMs: 0, continues: false },
  /** A stream that is written as fast as it can be. */
  burst: { window: 131_072, chunks: 200, everyMs: 0, continues: false },
  /** A stream at the pace of a fast model. */
  paced: { window: 131_072, chunks: 100, everyMs: 10, continues: false },
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

/**
 * A token of a fake reply tells its number, when it was written (microseconds), and, on the first new one of a continuation, how long
 * the server had the request by then. Always of one length.
 */
export interface Stamp {
  readonly index: number;
  readonly at: number;
  readonly held: number;
}

export function stampText({ index, at, held }: Stamp): string {
  return ` ${digits(index, 5)}.${digits(at, 14)}.${digits(held, 7)}`;
}

/** All tokens in a text. */
export const STAMP = / (\d{5})\.(\d{14})\.(\d{7})/g;

const digits = (value: number, width: number) => String(Math.round(value)).padStart(width, "0");
