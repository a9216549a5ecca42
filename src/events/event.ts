import type { WireName } from "../core/ask.ts";
import type { Attempt, Cause, Outcome, Warning } from "../core/cut.ts";
import type { ErrorCode } from "../core/error.ts";

/** What every event of one request carries. `model` is the name that the client asked for ("unknown" where it named none). */
type Of = {
  /** Request id, as in `x-lastword-request-id`. */
  readonly id: string;
  readonly model: string;
};

/**
 * All that lastword tells of itself, in one closed union. It holds counts, ids, names and durations and never content or keys,
 * so that no subscriber (log, metrics, tally, dashboard, traces) needs a rule about privacy.
 */
export type Event =
  | (Of & { readonly type: "received"; readonly wire: WireName; readonly stream: boolean; readonly upstream: string })
  | (Of & {
      readonly type: "planned";
      readonly window: number | null;
      readonly windowSource: string;
      readonly promptTokens: number | null;
      /** `exact`, `estimate;bound=N` or `ceiling`. */
      readonly countMethod: string | null;
      readonly capAsked: number | null;
      readonly capSent: number | null;
      readonly capReason: "room" | "model_limit" | "allowance" | "none";
      /** Seconds in lastword from the whole request read to the dispatch. */
      readonly overheadSeconds: number;
    })
  | (Of & {
      readonly type: "attempt_started";
      readonly attempt: number;
      readonly strategy: Attempt["strategy"];
      readonly cap: number | null;
      readonly upstream: string;
    })
  | (Of & { readonly type: "first_output"; readonly ms: number })
  | (Of & {
      readonly type: "attempt_ended";
      readonly attempt: number;
      readonly facts: Attempt;
      /** Why it was cut, where it was. */
      readonly cause: Cause | null;
    })
  | (Of & { readonly type: "seam"; readonly seconds: number; readonly overlap: number; readonly dropped: number })
  | (Of & { readonly type: "warned"; readonly warning: Warning })
  | (Of & {
      readonly type: "finished";
      readonly wire: WireName;
      readonly upstream: string;
      readonly outcome: Outcome;
      readonly cause: Cause | null;
      readonly code: ErrorCode | string | null;
      readonly ms: number;
      /** Estimated by lastword before dispatch; null where it was not counted. `ceiling` estimates are upper bounds only. */
      readonly promptTokensEstimated: number | null;
      readonly countMethod: string | null;
      /** Prompt tokens of the first pass, as the upstream reported them. */
      readonly promptTokens: number | null;
      /** Completion tokens delivered. */
      readonly completionTokens: number | null;
      readonly billedPromptTokens: number;
      readonly billedCompletionTokens: number;
      readonly attempts: number;
    })
  /** Something was learned of a model: its window, limit, way of continuing, or calibration. */
  | {
      readonly type: "learned";
      readonly upstream: string;
      readonly model: string;
      readonly fact: "window" | "max_output" | "continue" | "reasoning" | "cap_field" | "effort" | "usage_option";
      readonly value: number | string | boolean;
      readonly from: string;
    }
  | { readonly type: "upstream_state"; readonly upstream: string; readonly reachable: boolean; readonly detail: string }
  | { readonly type: "config"; readonly change: "loaded" | "reloaded" | "refused"; readonly problems: number };

/** A live request as `/status` and the dashboard see it: numbers that its own exchange keeps up to date. */
export interface Live {
  readonly id: string;
  model: string;
  readonly wire: WireName;
  upstream: string;
  stream: boolean;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
  phase: "queued" | "counting" | "asking" | "flowing" | "joining" | "waiting" | "ending";
  window: number | null;
  promptTokens: number | null;
  /** `exact`, `estimate;bound=N` or `ceiling`; null: not counted. */
  countMethod: string | null;
  capSent: number | null;
  /** Bytes received from the upstream over all attempts. */
  bytes: number;
  /** About how many completion tokens have flowed (events with output). */
  tokens: number;
  /** `tokens` at each cut so far. */
  cuts: number[];
  attempts: Attempt[];
}
