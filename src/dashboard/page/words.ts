import type { AttemptResult, Cause, Outcome, Strategy } from "../../core/cut.ts";
import type { ErrorCode } from "../../core/error.ts";
import type { Live } from "../../events/event.ts";
import type { WindowSource } from "../../upstream/dialect.ts";
import type { Continuation } from "../update.ts";

/** What the page says, in plain words. One row a fact; the tables are whole by their types. */

interface Word {
  readonly label: string;
  /** A sentence for who wants to know more. */
  readonly says: string;
}

/** In the order in which they are stacked and listed. */
export const OUTCOME_WORDS: Readonly<Record<Outcome, Word>> = {
  complete: { label: "whole", says: "The reply came whole at the first go." },
  healed: { label: "healed", says: "The reply was cut or lost on the way, and was made whole." },
  cut_off: { label: "cut off", says: "The reply ended cut, and the client was told so." },
  malformed: {
    label: "malformed",
    says: "The reply ended by itself, but is not the JSON or the arguments that were asked for.",
  },
  rejected: { label: "rejected", says: "The request was turned away before any upstream was asked." },
  failed: { label: "failed", says: "No reply came, and the client got a typed error." },
  canceled: { label: "canceled", says: "The client left before the reply had ended." },
};

export const CAUSE_WORDS: Readonly<Record<Cause, string>> = {
  reply_cap: "the reply reached its cap",
  provider_cap: "the provider cut below the cap",
  context_full: "the window was full",
  reasoning_starved: "reasoning used up the cap",
  upstream_broken: "the upstream broke off",
  honoured_cap: "left cut, as asked",
};

/** Why a request ended in an error. */
const CODE_WORDS: Readonly<Record<ErrorCode, string>> = {
  context_length_exceeded: "the prompt does not fit the window",
  invalid_request: "the request could not be read",
  unauthorized: "no key, or a wrong one",
  host_not_allowed: "called under a host name that is not allowed",
  origin_not_allowed: "called by a page that is not allowed",
  not_found: "there is nothing at this path",
  wire_not_supported: "the upstream does not serve this path",
  request_too_large: "the request is too large",
  idempotency_conflict: "one Idempotency-Key for two requests",
  overloaded: "too many requests at once",
  not_supported: "not supported",
  output_cap_exhausted: "still cut after the last attempt",
  upstream_unreachable: "the upstream could not be reached",
  upstream_protocol_error: "the upstream answered with something else than a reply",
  upstream_error: "the upstream answered with an error",
  upstream_stalled: "the upstream fell silent",
  deadline_exceeded: "the deadline passed",
  insufficient_remaining_time: "too little time was left for another attempt",
};

export const PHASE_WORDS: Readonly<Record<Live["phase"], string>> = {
  queued: "reading",
  counting: "counting",
  asking: "waiting for output",
  flowing: "writing",
  joining: "joining at a cut",
  waiting: "waiting to retry",
  ending: "ending",
};

export const STRATEGY_WORDS: Readonly<Record<Strategy, Word>> = {
  first: { label: "first pass", says: "the request as it came" },
  retry: { label: "retry", says: "the same request again" },
  prefill: { label: "resume", says: "the server went on with its own message" },
  raw: { label: "resume, raw", says: "resumed on the completion endpoint" },
  nudge: { label: "nudge", says: "asked to go on; the seam was aligned" },
  reask: { label: "ask again", says: "asked again with a larger cap or less reasoning" },
  parts: { label: "in parts", says: "a tool call carried on as text" },
  compact: { label: "compact", says: "asked again with a shortened history" },
};

export const RESULT_WORDS: Readonly<Record<AttemptResult, string>> = {
  whole: "whole",
  cut: "cut",
  refused: "refused",
  broken: "broke off",
  discarded: "discarded",
  aborted: "stopped",
};

export const SOURCE_WORDS: Readonly<Record<WindowSource, string>> = {
  config: "set in the config",
  loaded: "the server says it of the loaded model",
  served: "the server lists it",
  error: "named by an overflow error",
  catalog: "from the table of hosted models",
  trained: "only the trained maximum is known",
  unknown: "unknown: nothing is clamped or rejected",
};

export const WAY_WORDS: Readonly<Record<Continuation["way"], string>> = {
  prefill: "resumes its own message",
  raw: "resumed on the completion endpoint",
  nudge: "asked to go on, seam aligned",
  never: "left as they are",
};

export const KNOWN_WORDS: Readonly<Record<Continuation["known"], string>> = {
  config: "set in the config",
  seen: "seen in live replies",
  documented: "documented",
  untried: "the first cut will show",
  only: "this server has no other way",
};

const COUNT_WORDS: Readonly<Record<string, string>> = {
  exact: "exact",
  estimate: "estimated",
  ceiling: "upper limit only",
};

/** `exact`, `estimate;bound=12`, `ceiling`. */
export function countWords(method: string | null | undefined): string {
  if (method === null || method === undefined) return "not counted yet";
  const [kind = "", bound] = method.split(";bound=");
  const word = lookUp(COUNT_WORDS, kind);
  return bound === undefined ? word : `${word}, within ${bound} tokens`;
}

/** Why a request ended as it did: what cut it, and what kept it from being made whole; null where there is nothing to say. */
export function whyWords({
  cause,
  code,
}: {
  readonly cause: string | null;
  readonly code: string | null;
}): string | null {
  const reasons = [cause === null ? null : lookUp(CAUSE_WORDS, cause), code === null ? null : lookUp(CODE_WORDS, code)];
  const told = reasons.filter((reason) => reason !== null);
  return told.length === 0 ? null : told.join("; ");
}

/** An upstream's own codes are shown as they are. */
function lookUp(words: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(words, name) ? (words[name] ?? name) : name;
}
