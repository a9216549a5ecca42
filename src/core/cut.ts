/** Why a reply was not whole. `honoured_cap`: left so by order. */
export const CAUSES = [
  "reply_cap",
  "provider_cap",
  "context_full",
  "reasoning_starved",
  "upstream_broken",
  "honoured_cap",
] as const;
export type Cause = (typeof CAUSES)[number];

/** Facts worth telling that change no outcome. */
export type Warning =
  | "silent_prompt_truncation"
  | "compacted"
  | "usage_estimated"
  /** Some of the joined text has no log probabilities, since a pass had none or they do not fit what was left of it. */
  | "logprobs_missing"
  /** The server keeps replies, and under the id handed out it has only the first pass: `previous_response_id` will not reach the rest. */
  | "stored_reply_partial"
  | "repetition_loop";

export const STRATEGIES = ["first", "retry", "prefill", "raw", "nudge", "reask", "parts", "compact"] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** How one attempt ended, as the metrics name it. */
export const RESULTS = ["whole", "cut", "refused", "broken", "discarded", "aborted"] as const;
export type AttemptResult = (typeof RESULTS)[number];

/** How a request ended. Every request to a full wire ends in exactly one. */
export const OUTCOMES = ["complete", "healed", "cut_off", "malformed", "rejected", "failed", "canceled"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One attempt as `lastword.attempts` shows it. Never content. */
export interface Attempt {
  strategy: Strategy;
  /** Tokens sent as the cap; null where none was sent. */
  cap: number | null;
  finish_reason: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  /** Bytes received. */
  bytes: number;
  ms: number;
  seam: { overlap: number; dropped: number } | null;
  result: AttemptResult;
}
