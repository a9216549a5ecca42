import type { Cause, Strategy } from "../core/cut.ts";
import type { Failure } from "../core/error.ts";

/** What the config says of recovery, per model. Names and units are the config file's own. */
export interface RecoveryPolicy {
  readonly maxAttempts: number;
  readonly maxParts: number;
  /** Tokens generated over all passes; 0: the larger of 4 x asked and 32768. */
  readonly maxReplyTokens: number;
  readonly minAttemptSeconds: number;
  readonly retryBackoffSeconds: readonly number[];
  readonly maxRetryAfterSeconds: number;
  readonly secondAttempt: "raise" | "lower" | "both";
  readonly repairMalformed: boolean;
  readonly onExhausted: "partial" | "error";
  readonly overflow: "reject" | "compact" | "route";
}

/** Where a reply was cut: it decides what can mend it. */
export type Where = "text" | "reasoning" | "tool" | "structured" | "nothing";

/** How the pass that was under way ended. */
export type PassEnd =
  | { readonly on: "whole" }
  | { readonly on: "malformed" }
  /** Cut, or broken after it began (`cause` upstream_broken). */
  | {
      readonly on: "cut";
      readonly cause: Cause;
      readonly where: Where;
      /** Tokens that this pass generated, as reported or else as estimated. */
      readonly generated: number;
      /** New code points that this pass added to the reply. */
      readonly gained: number;
      readonly looping: boolean;
    }
  /** No reply began: refused, unreachable, lost before its first output. */
  | {
      readonly on: "unbegun";
      readonly transient: boolean;
      readonly retryAfter: number | null;
      readonly failure: Failure;
    }
  /** A 4xx said what to change, and it was changed: the same pass again. `demote`: this way of continuing does not work here. */
  | { readonly on: "lesson"; readonly demote: boolean; readonly failure: Failure }
  /** The server's own numbers say that the prompt does not fit; `fits`: with what it taught, a corrected request does. */
  | { readonly on: "overflow"; readonly fits: boolean; readonly failure: Failure }
  /** The seam could not be decided; nothing of the pass was shown. `demote`: the server does not resume. */
  | { readonly on: "discarded"; readonly demote: boolean; readonly generated: number }
  /** A limit of time ended it: nothing flows any more. */
  | { readonly on: "timeout"; readonly failure: Failure };

/** Numbers of this moment that the decision needs. */
export interface Facts {
  /** Seconds to the absolute deadline. */
  readonly secondsLeft: number;
  /** Tokens that a further pass could generate: window - prompt - partial - margin; null: unknown. */
  readonly room: number | null;
  /** Tokens: the model's output limit as configured, listed or learned; null: none known. */
  readonly modelLimit: number | null;
  /** Tokens left of the client's own cap under `strict`; null: not strict, or no cap asked. */
  readonly strictLeft: number | null;
  /** The client has already been given some of this. */
  readonly shownText: boolean;
  readonly shownReasoning: boolean;
  readonly shownTool: boolean;
  /** The reply must validate as a whole, and some of it is shown. */
  readonly structured: boolean;
  /** The server can go on inside a thought. */
  readonly resumesThoughts: boolean;
  /** The server renders its own template, so that a cut call can be resumed token by token. */
  readonly rawCalls: boolean;
  /** Reasoning effort can be lowered. */
  readonly lowerable: boolean;
  /** History can still be shortened once. */
  readonly compactable: boolean;
}

export type Way = "prefill" | "raw" | "nudge";

/** What is remembered between passes. */
export interface State {
  /** Calls that began a reply. */
  readonly began: number;
  /** Calls that did not, in a row of waits. */
  readonly retries: number;
  /** 4xx that taught something. */
  readonly lessons: number;
  /** Tokens generated over all passes. */
  readonly generated: number;
  /** Passes in a row without real progress. */
  readonly idle: number;
  /** Undecidable nudges at the present joint. */
  readonly discards: number;
  /** Passes of a tool call in parts. */
  readonly parts: number;
  readonly compactions: number;
  /** How effort was lowered so far. */
  readonly lowered: "no" | "lower" | "off";
  /** Ways of continuing that are left, best first. */
  readonly ways: readonly Way[];
  /** The first cut of this request: what was healed, if it ends whole. */
  readonly cause: Cause | null;
  /** The last pass: what it was, and its cap in tokens (null: none sent). */
  readonly strategy: Strategy;
  readonly cap: number | null;
  /** The client's own cap; null: none. */
  readonly asked: number | null;
}

export function begin(asked: number | null, cap: number | null, ways: readonly Way[]): State {
  return {
    began: 0,
    retries: 0,
    lessons: 0,
    generated: 0,
    idle: 0,
    discards: 0,
    parts: 0,
    compactions: 0,
    lowered: "no",
    ways,
    cause: null,
    strategy: "first",
    cap,
    asked,
  };
}

export type Action =
  | {
      readonly do: "send";
      readonly strategy: Strategy;
      /** Tokens; null: the client's own fields as they are. */
      readonly cap: number | null;
      /** Lower reasoning effort for this pass. */
      readonly effort: "lower" | "off" | null;
      readonly waitSeconds: number;
    }
  /** Everything is whole. */
  | { readonly do: "deliver"; readonly outcome: "complete" | "healed" | "malformed" }
  /** Ends cut: what is true, with the finish reason that says so, or the typed error. `failure` tells why no more was tried. */
  | { readonly do: "stop"; readonly cause: Cause; readonly failure: Failure | null; readonly as: "partial" | "error" }
  /** Nothing was given to the client: a typed error. */
  | { readonly do: "fail"; readonly failure: Failure };

export type Send = Extract<Action, { do: "send" }>;
