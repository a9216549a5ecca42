import type { Cause } from "../core/cut.ts";
import { reasoningOf, textOf } from "../core/reply.ts";
import { belowCap, CAP_SLACK, completionOf, hasAnswer, hasReasoning, type Pass, promptOf } from "./pass.ts";
import type { Where } from "./state.ts";
import { thinkState } from "./think.ts";

/** Tokens by which a full window may seem not to be. */
const WINDOW_SLACK = 16;
/** Windows that servers are started with are multiples of this. */
const WINDOW_STEP = 1024;
/** Output limits of providers are multiples of this. */
const LIMIT_STEP = 256;

/** Why a reply was cut, and what the cut has shown of the upstream. */
export interface Diagnosis {
  readonly cause: Exclude<Cause, "honoured_cap">;
  /** Tokens: the provider's own output limit, where this cut has shown it. */
  readonly limit: number | null;
  /** Tokens: the window in force, where this cut has shown it to be another than was known. */
  readonly window: number | null;
}

/** @param lost the stream ended before its end */
export function diagnose(pass: Pass, lost: boolean): Diagnosis {
  if (lost) return { cause: "upstream_broken", limit: null, window: null };
  const window = shownWindow(pass);
  if (window !== null || windowFull(pass)) return { cause: "context_full", limit: null, window };
  const limit = shownLimit(pass);
  const starved = pass.calls.length === 0 && !hasAnswer(pass.reply) && hasReasoning(pass);
  return { cause: starved ? "reasoning_starved" : capCause(pass), limit, window: null };
}

/** Where it was cut: it decides what can mend it. */
export function whereOf({ reply, calls, structured }: Pass): Where {
  if (calls.length > 0) return "tool";
  const text = textOf(reply);
  const { state, answerAt } = thinkState(text);
  const last = reply.blocks.findLast((block) => block.text !== "" || block.sealed);
  if (state === "open" || last?.kind === "reasoning") return "reasoning";
  if (state === "closed" || text.slice(answerAt).trim() !== "") return structured === null ? "text" : "structured";
  return reasoningOf(reply).trim() === "" ? "nothing" : "reasoning";
}

function capCause(pass: Pass): Diagnosis["cause"] {
  const { cap } = pass;
  if (cap.sent === null || belowCap(pass)) return "provider_cap";
  if (cap.reason === "room") return "context_full";
  return cap.reason === "model_limit" ? "provider_cap" : "reply_cap";
}

/** The finish reason says cap, and it was not ours. */
function shownLimit(pass: Pass): number | null {
  return pass.finish?.kind === "cap" && belowCap(pass) ? completionOf(pass) : null;
}

function windowFull(pass: Pass): boolean {
  if (pass.finish?.kind === "window" || saysNothingAtOnce(pass)) return true;
  const window = pass.window.tokens;
  const prompt = promptOf(pass) ?? pass.counted.prompt;
  const completion = completionOf(pass) ?? pass.counted.completion;
  return window !== null && prompt !== null && completion !== null && prompt + completion >= window - WINDOW_SLACK;
}

/** Cut with nothing to show and at most one token: what a server does whose window the prompt has filled (Ollama). */
function saysNothingAtOnce(pass: Pass): boolean {
  const completion = pass.usage?.completion ?? null;
  const little = completion !== null && completion <= 1 && (pass.cap.sent === null || pass.cap.sent > 2);
  return pass.finish?.kind === "cap" && little && pass.silent;
}

/**
 * A server that was started with a smaller window than it lists cuts where prompt and reply together reach it, well below the cap.
 * Believed where no better source tells the window, and the reply alone is not as long as a limit of the provider's would be.
 */
function shownWindow(pass: Pass): number | null {
  const prompt = promptOf(pass);
  const completion = completionOf(pass);
  const ownCap = pass.cap.sent !== null && !belowCap(pass);
  if (pass.finish?.kind !== "cap" || pass.window.sure || ownCap || prompt === null || completion === null) return null;
  if (stepAt(completion, LIMIT_STEP, CAP_SLACK) !== null) return null;
  const window = stepAt(prompt + completion, WINDOW_STEP, 2);
  return window !== null && window < (pass.window.tokens ?? Number.POSITIVE_INFINITY) ? window : null;
}

/** The multiple of `step` at which `tokens` stands, or by up to `slack` below which; null where it does not. */
function stepAt(tokens: number, step: number, slack: number): number | null {
  const next = Math.ceil(tokens / step) * step;
  return next > 0 && next - tokens <= slack ? next : null;
}
