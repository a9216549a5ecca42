import type { Effective } from "../config/effective.ts";
import type { DialectName, WindowSource } from "../upstream/dialect.ts";
import type { Continuation } from "./continuation.ts";
import type { Finding } from "./finding.ts";

/** What `lastword check --json` prints. Fields are only ever added; tokens, seconds and milliseconds are numbers. */
export interface Report {
  /** Of lastword. */
  readonly version: string;
  /** Nothing of level `error` was found: the exit code is 0. */
  readonly ok: boolean;
  readonly config: {
    /** Path as it was given; null: none. */
    readonly file: string | null;
    /** Every value in force and its source, keys masked; null without `--print-config`, or where the configuration has a fault. */
    readonly settings: readonly Effective[] | null;
  };
  /** null where the configuration has a fault, and then `upstreams` is empty. */
  readonly listen: ListenReport | null;
  readonly upstreams: readonly UpstreamReport[];
  readonly problems: readonly Finding[];
}

export interface ListenReport {
  readonly url: string;
  /** `lastword`: one runs there already, which is no problem. */
  readonly state: "free" | "lastword" | "refused";
}

export interface UpstreamReport {
  readonly name: string;
  /** Without credentials and query. */
  readonly url: string;
  /** An HTTP answer came, whatever it says. */
  readonly reached: boolean;
  /** HTTP status of the model list; null: no answer. */
  readonly status: number | null;
  /** Milliseconds until the model list was there. */
  readonly ms: number | null;
  readonly dialect: DialectName;
  /** `config`: by order; `detected`: by the shape of its answers; `assumed`: nothing told it. */
  readonly dialect_source: "config" | "detected" | "assumed";
  readonly key: KeyState;
  /** Its clock less ours, in seconds; null: not told. */
  readonly clock_skew_seconds: number | null;
  readonly models: readonly ModelReport[];
  /** Models that it lists, but that no rule sends to it. */
  readonly not_routed: number;
  /** null without `--probe`. */
  readonly probe: ProbeReport | null;
}

/**
 * - `none`: none is configured, and none was asked for; `missing`: none is configured, but one is asked for
 * - `accepted`: the configured one opens what is closed without; `not_needed`: it opens without one too
 * - `refused`: the configured one is not taken; `unknown`: not found out
 */
export type KeyState = "none" | "missing" | "accepted" | "not_needed" | "refused" | "unknown";

export interface ModelReport {
  /** As clients name it. */
  readonly name: string;
  /** As it goes upstream: differs for an alias. */
  readonly sent_as: string;
  /** false: the next request loads it, and then its window may be another. */
  readonly loaded: boolean;
  /** Tokens; null: not known, and then nothing is clamped or rejected. */
  readonly window: number | null;
  readonly window_source: WindowSource;
  /** Tokens: the trained maximum, where it is told. */
  readonly trained: number | null;
  /** Tokens: the most that one pass may write; null: no limit is known. */
  readonly max_output: number | null;
  /** null: not told. */
  readonly reasoning: boolean | null;
  readonly continuation: Continuation;
  readonly counting: CountingReport;
}

export interface CountingReport {
  /** Of the model's vocabulary and template; `unknown` where its name tells nothing. */
  readonly family: string;
  /** The vocabulary in use. */
  readonly encoding: string;
  /** How far a count of about a thousand tokens may be off, in percent, before any reply was learned from; 0: exact. */
  readonly bound_percent: number;
  /** The server counts exactly, and is asked wherever the bound straddles a decision. */
  readonly server_counts: boolean;
}

/** What one tiny request showed. */
export interface ProbeReport {
  readonly model: string;
  /** HTTP status; null: no answer. */
  readonly status: number | null;
  /** Finish reason as the server says it; a reply that was cut by its cap says `length`. */
  readonly finish_reason: string | null;
  readonly completion_tokens: number | null;
  /** The cut was named as one. */
  readonly names_cuts: boolean;
  /** Usage came with the stream. */
  readonly reports_usage: boolean;
  /** `untold`: no visible text came, or it fits neither. `not_tried`: the server is known not to resume. */
  readonly trailing_message: "resumed" | "restarted" | "refused" | "untold" | "not_tried";
}
