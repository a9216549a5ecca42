import type { Cause, Strategy } from "../core/cut.ts";
import { type ErrorCode, type Facts as ErrorFacts, type Failure, failure } from "../core/error.ts";
import type { Action, Facts, PassEnd, RecoveryPolicy, State, Way, Where } from "./state.ts";

/** Code points that a pass must add to count as progress. */
const PROGRESS = 16;
/** Tokens of room below which no further pass is begun. */
const MIN_ROOM = 512;
/** Tokens: the least cap of a later pass, where window and limits allow it. */
const LATER_CAP = 4096;
/** 4xx that teach, per request. */
const MAX_LESSONS = 2;
/** Undecidable seams at one joint: one way is tried once more, then the cut is told. */
const MAX_DISCARDS = 2;

/**
 * The whole of recovery's judgement: from what was, how the last pass ended, and the numbers of this moment, to what is done next.
 * Pure. Rows of the table stand in the order in which they are read.
 */
export function decide(
  before: State,
  end: PassEnd,
  facts: Facts,
  policy: RecoveryPolicy,
): { readonly state: State; readonly action: Action } {
  switch (end.on) {
    case "whole":
      return { state: before, action: { do: "deliver", outcome: before.cause === null ? "complete" : "healed" } };
    case "malformed":
      return malformed(before, facts, policy);
    case "cut":
      return cut(before, end, facts, policy);
    case "discarded":
      return discarded(before, end, facts, policy);
    case "unbegun":
      return unbegun(before, end, facts, policy);
    case "lesson":
      return lesson(before, end, facts, policy);
    case "overflow":
      return overflow(before, end, facts, policy);
    case "timeout":
      return { state: before, action: stopOrFail(before, facts, policy, end.failure) };
    default:
      return end satisfies never;
  }
}

type Decision = { readonly state: State; readonly action: Action };

function malformed(before: State, facts: Facts, policy: RecoveryPolicy): Decision {
  const state = { ...before, began: before.began + 1 };
  const untouched = !facts.shownText && !facts.shownTool;
  const once = before.strategy === "first" || before.strategy === "retry";
  if (policy.repairMalformed && untouched && once && limits(state, facts, policy, null) === null)
    return send(state, "reask", capAfter(before, 0, facts), null);
  return { state, action: { do: "deliver", outcome: "malformed" } };
}

function cut(before: State, end: Extract<PassEnd, { on: "cut" }>, facts: Facts, policy: RecoveryPolicy): Decision {
  const state: State = {
    ...before,
    began: before.began + 1,
    generated: before.generated + end.generated,
    idle: end.gained < PROGRESS ? before.idle + 1 : 0,
    discards: 0,
    retries: 0,
    cause: before.cause ?? end.cause,
  };
  const stop = (why: Failure | null) => ({ state, action: halt(state, end.cause, policy, facts, why) });
  if (end.cause === "honoured_cap") return stop(null);
  if (end.looping) return stop(exhausted(state, "the reply repeats itself", {}));
  if (end.cause === "context_full") {
    if (policy.overflow === "compact" && facts.compactable && state.compactions === 0)
      return send({ ...state, compactions: 1 }, "compact", null, null);
    return stop(exhausted(state, "the context window is full", { room: facts.room }));
  }
  // Without any text the reask decides by its cap whether it can do better; passes of text must gain something.
  if (end.where === "text" && state.idle >= 2) return stop(exhausted(state, "two passes brought nothing new", {}));
  const limit = limits(state, facts, policy, end.where);
  if (limit !== null) return stop(limit);
  return (
    heal(state, end, facts, policy) ??
    stop(exhausted(state, "no larger cap and no way to go on", ceilings(state, facts)))
  );
}

/** How this cut is mended, or null where nothing can. */
function heal(
  state: State,
  end: Extract<PassEnd, { on: "cut" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision | null {
  const used = state.cap ?? end.generated;
  const cap = capAfter(state, end.generated, facts);
  const larger = cap !== null && cap > used;
  const broken = end.cause === "upstream_broken";
  switch (end.where) {
    case "text":
      return goOn(state, cap);
    case "structured":
      if (facts.shownText) return goOn(state, cap);
      if (broken) return send(state, "retry", state.cap, null);
      return larger ? send(state, "reask", cap, null) : goOn(state, cap);
    case "reasoning":
    case "nothing":
      if (broken && !facts.shownText && !facts.shownReasoning) return send(state, "retry", state.cap, null);
      return think(state, end.where, cap, larger || broken, facts, policy);
    case "tool":
      // What was shown of a call can only be extended, and only a raw resumption extends it surely.
      if (facts.shownTool) return facts.rawCalls && state.ways.includes("raw") ? part(state, cap, policy) : null;
      if (broken) return send(state, "retry", state.cap, null);
      if (larger && state.parts === 0)
        return send(state, "reask", cap, facts.lowerable && policy.secondAttempt !== "raise" ? "lower" : null);
      return part(state, cap, policy);
    default:
      return end.where satisfies never;
  }
}

/** Reasoning ate the cap: on inside the thought where the server can, else again with more room or less effort. */
function think(
  state: State,
  where: "reasoning" | "nothing",
  cap: number | null,
  larger: boolean,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision | null {
  if (where === "reasoning" && facts.resumesThoughts && state.ways[0] !== "nudge" && state.ways.length > 0)
    return send(state, state.ways[0] ?? "prefill", cap, null);
  const again = state.strategy === "reask";
  const wantsLower = policy.secondAttempt !== "raise" || again || !larger;
  if (wantsLower && facts.lowerable && state.lowered !== "off") {
    const effort = state.lowered === "no" ? "lower" : "off";
    const raise = policy.secondAttempt !== "lower" || again;
    return send({ ...state, lowered: effort }, "reask", raise ? cap : state.cap, effort);
  }
  return larger ? send(state, "reask", cap, null) : null;
}

function goOn(state: State, cap: number | null): Decision | null {
  const way = state.ways[0];
  return way === undefined ? null : send(state, way, cap, null);
}

function part(state: State, cap: number | null, policy: RecoveryPolicy): Decision | null {
  if (state.parts >= policy.maxParts || state.ways.length === 0) return null;
  return send({ ...state, parts: state.parts + 1 }, "parts", cap, null);
}

function discarded(
  before: State,
  end: Extract<PassEnd, { on: "discarded" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision {
  const ways = end.demote ? before.ways.slice(1) : before.ways;
  const state: State = {
    ...before,
    began: before.began + 1,
    generated: before.generated + end.generated,
    // A server found not to resume has cost no try at the joint.
    discards: end.demote ? 0 : before.discards + 1,
    ways,
  };
  const cause = before.cause ?? "reply_cap";
  const stop = (why: Failure) => ({ state, action: halt(state, cause, policy, facts, why) });
  if (state.discards >= MAX_DISCARDS)
    return stop(exhausted(state, "the model does not go on from where it was cut", {}));
  const limit = limits(state, facts, policy, "text");
  if (limit !== null) return stop(limit);
  return goOn(state, before.cap) ?? stop(exhausted(state, "the server cannot go on with its own message", {}));
}

function unbegun(
  before: State,
  end: Extract<PassEnd, { on: "unbegun" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision {
  const backoff = policy.retryBackoffSeconds[before.retries];
  const wait = end.retryAfter ?? backoff;
  const fits =
    wait !== undefined && wait <= policy.maxRetryAfterSeconds && wait + policy.minAttemptSeconds <= facts.secondsLeft;
  if (end.transient && backoff !== undefined && wait !== undefined && fits) {
    const state = { ...before, retries: before.retries + 1 };
    const strategy = before.strategy === "first" ? "retry" : before.strategy;
    return send(state, strategy, before.cap, null, wait);
  }
  return { state: before, action: stopOrFail(before, facts, policy, end.failure) };
}

function lesson(
  before: State,
  end: Extract<PassEnd, { on: "lesson" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision {
  const ways = end.demote ? before.ways.slice(1) : before.ways;
  const state = { ...before, lessons: before.lessons + 1, ways };
  if (state.lessons > MAX_LESSONS) return { state, action: stopOrFail(state, facts, policy, end.failure) };
  if (end.demote) return goOn(state, before.cap) ?? { state, action: stopOrFail(state, facts, policy, end.failure) };
  return send(state, before.strategy, before.cap, null);
}

function overflow(
  before: State,
  end: Extract<PassEnd, { on: "overflow" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision {
  const state = { ...before, lessons: before.lessons + 1 };
  if (end.fits && before.lessons === 0)
    return send(state, before.strategy === "first" ? "retry" : before.strategy, capWithin(before.cap, facts), null);
  if (policy.overflow === "compact" && facts.compactable && before.compactions === 0)
    return send({ ...state, compactions: 1 }, "compact", null, null);
  return { state, action: stopOrFail(state, facts, policy, end.failure) };
}

/** Why no further pass may begin, or null. */
function limits(state: State, facts: Facts, policy: RecoveryPolicy, where: Where | null): Failure | null {
  // A call in parts has a count of its own, begun once no larger cap can hold it.
  const attempts = where === "tool" && state.parts > 0 ? policy.maxAttempts + policy.maxParts : policy.maxAttempts;
  if (state.began >= attempts) return exhausted(state, `${state.began} attempts were made`, { attempts: state.began });
  if (facts.secondsLeft < policy.minAttemptSeconds)
    return exhausted(
      state,
      `${Math.max(0, Math.floor(facts.secondsLeft))} s are left, a further attempt wants ${policy.minAttemptSeconds} s`,
      { seconds_left: Math.max(0, Math.floor(facts.secondsLeft)), min_attempt_seconds: policy.minAttemptSeconds },
      "insufficient_remaining_time",
    );
  if (facts.room !== null && facts.room < MIN_ROOM)
    return exhausted(state, `${Math.max(0, facts.room)} tokens of room are left in the window`, { room: facts.room });
  const most = policy.maxReplyTokens > 0 ? policy.maxReplyTokens : Math.max(4 * (state.asked ?? 0), 32_768);
  if (state.generated >= most)
    return exhausted(state, `${state.generated} tokens were generated, the limit is ${most}`, {
      generated: state.generated,
      max_reply_tokens: most,
    });
  if (facts.strictLeft !== null && facts.strictLeft <= 0)
    return exhausted(state, "the client's own cap is used up", {});
  return null;
}

/** The cap of a later pass: twice what was not enough, at least 4096, within room, limit, and what strictness leaves. */
function capAfter(state: State, generated: number, facts: Facts): number | null {
  return capWithin(Math.max(2 * (state.cap ?? generated), LATER_CAP), facts);
}

function capWithin(cap: number | null, facts: Facts): number | null {
  if (cap === null) return null;
  return Math.max(1, Math.min(cap, facts.room ?? cap, facts.modelLimit ?? cap, facts.strictLeft ?? cap));
}

function send(
  state: State,
  strategy: Strategy,
  cap: number | null,
  effort: "lower" | "off" | null,
  waitSeconds = 0,
): Decision {
  return { state: { ...state, strategy, cap }, action: { do: "send", strategy, cap, effort, waitSeconds } };
}

/** A cut that is not mended: told with what there is, or as the typed error where the config says so. */
function halt(state: State, cause: Cause, policy: RecoveryPolicy, _facts: Facts, why: Failure | null): Action {
  const as = policy.onExhausted === "error" && cause !== "honoured_cap" ? "error" : "partial";
  return { do: "stop", cause, failure: why ?? (as === "error" ? exhausted(state, "the reply was cut", {}) : null), as };
}

/** A failure after something was shown ends the reply as cut; before, it is the answer. */
function stopOrFail(state: State, facts: Facts, policy: RecoveryPolicy, why: Failure): Action {
  if (state.cause === null && !facts.shownText && !facts.shownReasoning && !facts.shownTool)
    return { do: "fail", failure: why };
  return halt(state, state.cause ?? "upstream_broken", policy, facts, why);
}

function exhausted(state: State, why: string, facts: ErrorFacts, code: ErrorCode = "output_cap_exhausted"): Failure {
  return failure(code, `The reply is still cut: ${why}.`, { attempts: state.began, last_cap: state.cap, ...facts });
}

function ceilings(state: State, facts: Facts): ErrorFacts {
  return { last_cap: state.cap, room: facts.room, model_limit: facts.modelLimit };
}

/** Ways of continuing, best first, as the config orders it or as the server is known for. */
export function waysOf(
  setting: "auto" | "prefill" | "raw" | "nudge" | "never",
  known: { prefill: boolean; raw: boolean },
): readonly Way[] {
  switch (setting) {
    case "auto":
      return [...(known.prefill ? (["prefill"] as const) : []), ...(known.raw ? (["raw"] as const) : []), "nudge"];
    case "prefill":
      return ["prefill", "nudge"];
    case "raw":
      return ["raw", "nudge"];
    case "nudge":
      return ["nudge"];
    case "never":
      return [];
    default:
      return setting satisfies never;
  }
}
