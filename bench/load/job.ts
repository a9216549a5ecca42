import type { ModelName } from "../scenarios.ts";
import type { HostileKind } from "./prompts.ts";

/** Connections that do the same thing. Several groups of one job run at the same time. */
export interface Group {
  readonly name: string;
  readonly model: ModelName;
  readonly stream: boolean;
  /** Tokens asked for at most; null: no cap is sent. */
  readonly cap: number | null;
  readonly prompt: Prompt;
  readonly connections: number;
  /** Milliseconds over which the connections start. */
  readonly spreadMs: number;
  readonly until: Until;
}

/**
 * - `small`: two short messages; `seen`: 400 KB, always the same; `unseen`: 400 KB, of which no message came before
 * - `{kilobytes}`: unseen, of that size; `{turns}`: conversations that grow by 1 KB with each request, up to so many turns
 * - `{hostile}`: 100,000 characters of that kind
 */
export type Prompt =
  | "small"
  | "seen"
  | "unseen"
  | { readonly kilobytes: number }
  | { readonly turns: number }
  | { readonly hostile: HostileKind };

/** Each connection sends one request after the other: for so long, so many in all, or as long as the groups that end by themselves. */
type Until = { readonly seconds: number } | { readonly requests: number } | "the others";

export interface Job {
  readonly port: number;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly groups: readonly Group[];
  /** Everything is broken off then. */
  readonly limitSeconds: number;
}

/** Times in microseconds. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What one group saw. */
export interface Tally {
  /** Whole answers. */
  readonly answers: number;
  /** Refused with 400: a prompt that does not fit. */
  readonly refusals: number;
  /** Answers of another status, broken ones, and streams whose tokens were not all there, once each and in order. */
  readonly failures: number;
  /** The first failure, for people. */
  readonly complaint: string;
  readonly seconds: number;
  /** Tokens in streams. */
  readonly chunks: number;
  /** Request sent to answer or refusal read. */
  readonly latency: Spread;
  /** Request sent to first token read. */
  readonly firstToken: Spread;
  /** Token written by the server to token read. */
  readonly delay: Spread;
  /** At a seam: from the last token before it to the first new one. */
  readonly seam: Spread;
}

export type Report = { readonly tallies: Readonly<Record<string, Tally>> } | { readonly broken: string };
