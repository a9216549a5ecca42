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
  /** It was joined and ended, and the whole is not what was asked for: nothing of the pass was shown. */
  | { readonly on: "spoiled"; readonly generated: number }
  /** It could not be sent: the server does not render its template, or not what is to be resumed. */
  | { readonly on: "unable" }
  /** A limit of time ended it: nothing flows any more. */
  | { readonly on: "timeout"; readonly failure: Failure };

/** Numbers of this moment that the decision needs. */
export interface Facts {
  /** Seconds to the absolute deadline. */
  readonly secondsLeft: number;
  /** Tokens that a further pass could generate: window - prompt - partial - margin; null: unknown. */
  readonly room: number | null;
  /** The same for a turn that is asked again: no partial stands in its prompt. */
  readonly roomAgain: number | null;
  /** Tokens: the model's output limit as configured, listed or learned; null: none known. */
  readonly modelLimit: number | null;
  /** Tokens left of the client's own cap under `strict`; null: not strict, or no cap asked. */
  readonly strictLeft: number | null;
  /** Tokens that a thought may have beside these; 0: it counts like text. */
  readonly allowance: number;
  /** The client has already been given some of this. */
  readonly shownText: boolean;
  readonly shownReasoning: boolean;
  readonly shownTool: boolean;
  /** The best way that is left goes on inside a thought. */
  readonly resumesThoughts: boolean;
  /** The thought stands in the text (`<think>`): to go on with the text is to go on inside it. */
  readonly thoughtIsText: boolean;
  /** The cut call can be carried on: `raw`, in the template's own syntax; `text`, by showing its arguments to the model. */
  readonly carries: { readonly raw: boolean; readonly text: boolean };
  /** The format's text ends in a list of which some whole element has not been shown to its end. */
  readonly divisible: boolean;
  /** Ways in which reasoning effort can be lowered, least first. */
  readonly steps: readonly Step[];
  /** What mended the last reply of this model that reasoning had starved; null: none yet. */
  readonly helped: "raise" | Step | null;
  /** History can still be shortened once. */
  readonly compactable: boolean;
}

/** How far effort is lowered. */
export type Step = "lower" | "off";

export type Way = "prefill" | "raw" | "nudge";

/** What one pass is. */
export interface Sending {
  /** What is asked; a shortened history is told as `compact`, see `shorten`. */
  readonly strategy: Exclude<Strategy, "compact">;
  /** Tokens; null: the client's own fields as they are. */
  readonly cap: number | null;
  /** Lower reasoning effort for this pass. */
  readonly effort: Step | null;
  /** How a call is carried on in parts; null for all other strategies. */
  readonly by: "raw" | "text" | null;
  /** A hidden order beside the turn that is asked again: to make the call in smaller pieces, or to write it right. */
  readonly hint: "smaller" | "repair" | null;
  /** The history is shortened first: the window was full. Told as the strategy `compact`, whatever the way of going on. */
  readonly shorten: boolean;
  /** Cuts the list back to its last whole element, and goes on from there. */
  readonly back: boolean;
}

/** The pass asks for all of the turn, and not for the rest of it. */
export function isWholeTurn({ strategy }: Pick<Sending, "strategy">): boolean {
  return strategy === "first" || strategy === "retry" || strategy === "reask";
}

/** What is remembered between passes; of the last pass, what it was. */
export interface State extends Sending {
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
  /** Undecidable seams at the present joint. */
  readonly discards: number;
  /** Passes of a tool call in parts. */
  readonly parts: number;
  readonly compactions: number;
  /** How effort was lowered so far. */
  readonly lowered: "no" | Step;
  /** The hint to make smaller calls was given. */
  readonly hinted: boolean;
  /** Ways of continuing that are left, best first. */
  readonly ways: readonly Way[];
  /** The first cut of this request: what was healed, if it ends whole. */
  readonly cause: Cause | null;
  /** The ceiling that each cut pass hit, in tokens. */
  readonly ceilings: readonly Ceiling[];
  /** The client's own cap; null: none. */
  readonly asked: number | null;
}

interface Ceiling {
  readonly tokens: number;
  readonly cause: Cause;
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
    hinted: false,
    ways,
    cause: null,
    ceilings: [],
    asked,
    strategy: "first",
    cap,
    effort: null,
    by: null,
    hint: null,
    shorten: false,
    back: false,
  };
}

export type Action =
  | (Sending & { readonly do: "send"; readonly waitSeconds: number })
  /** Everything is whole. */
  | { readonly do: "deliver"; readonly outcome: "complete" | "healed" | "malformed" }
  /** Ends cut: what is true, with the finish reason that says so, or the typed error. `failure` tells why no more was tried. */
  | { readonly do: "stop"; readonly cause: Cause; readonly failure: Failure | null; readonly as: "partial" | "error" }
  /** Nothing was given to the client: a typed error. */
  | { readonly do: "fail"; readonly failure: Failure };

export type Send = Extract<Action, { do: "send" }>;
