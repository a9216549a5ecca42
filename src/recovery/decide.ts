import type { Failure } from "../core/error.ts";
import { capWithin, cramped, largerCap } from "./caps.ts";
import { askAgain, type Cut, goOn, heal, MAX_IDLE, part, smaller } from "./heal.ts";
import { type Decision, exhausted, halt, noWay, send, stopOrFail } from "./moves.ts";
import {
  type Action,
  type Facts,
  isWholeTurn,
  type PassEnd,
  type RecoveryPolicy,
  type State,
  type Way,
  type Where,
} from "./state.ts";

/** Code points that a pass must add to count as progress. */
const PROGRESS = 16;
/** 4xx that teach, per request. */
const MAX_LESSONS = 2;
/** Undecidable seams at one joint: one way is tried once more, then the cut is told. */
const MAX_DISCARDS = 2;
/**
 * The whole of recovery's judgement: from what was, how the last pass ended, and the numbers of this moment, to what is done next.
 * Pure. Rows of the table stand in the order in which they are read.
 */
export function decide(before: State, end: PassEnd, facts: Facts, policy: RecoveryPolicy): Decision {
  switch (end.on) {
    case "whole":
      return { state: before, action: deliver(before) };
    case "malformed":
      return malformed(before, facts, policy);
    case "cut":
      return cut(before, end, facts, policy);
    case "discarded":
      return discarded(before, end, facts, policy);
    case "spoiled":
      return spoiled(before, end, facts, policy);
    case "unable":
      return unable(before, facts, policy);
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

/** What a whole reply leaves to do, for which nothing else need be known. */
export function deliver({ cause }: State): Action {
  return { do: "deliver", outcome: cause === null ? "complete" : "healed" };
}

function malformed(before: State, facts: Facts, policy: RecoveryPolicy): Decision {
  const state = { ...before, began: before.began + 1 };
  const untouched = !facts.shownText && !facts.shownTool;
  const once = before.strategy === "first" || before.strategy === "retry";
  if (policy.repairMalformed && untouched && once && limits(state, facts, policy, "structured") === null)
    return send(state, { strategy: "reask", cap: before.cap, hint: "repair" });
  return { state, action: { do: "deliver", outcome: "malformed" } };
}

function cut(before: State, end: Cut, facts: Facts, policy: RecoveryPolicy): Decision {
  const own = end.cause === "reply_cap" || end.cause === "reasoning_starved" || end.cause === "honoured_cap";
  const tokens = own ? (before.cap ?? end.generated) : end.generated;
  const state: State = {
    ...before,
    began: before.began + 1,
    generated: before.generated + end.generated,
    idle: end.gained < PROGRESS ? before.idle + 1 : 0,
    discards: 0,
    retries: 0,
    cause: before.cause ?? end.cause,
    ceilings: [...before.ceilings, { tokens, cause: end.cause }],
  };
  const stop = (why: Failure | null) => ({ state, action: halt(state, end.cause, policy, why) });
  if (end.cause === "honoured_cap") return stop(null);
  if (end.looping) return stop(exhausted(state, "the reply repeats itself", {}));
  if (end.cause === "context_full") {
    if (policy.overflow === "compact" && facts.compactable && state.compactions === 0)
      return (
        shortened(heal({ ...state, compactions: 1 }, end, { ...facts, room: null }, policy)) ??
        stop(windowFull(state, facts))
      );
    // A call that the window cannot hold can still be made in smaller ones.
    const cap = capWithin(before.cap ?? end.generated, facts, facts.roomAgain);
    return (end.where === "tool" ? smaller(state, facts, cap) : null) ?? stop(windowFull(state, facts));
  }
  // Without any text the reask decides by its cap whether it can do better; passes of text must gain something.
  const joins = end.where === "text" || (end.where === "structured" && !isWholeTurn(before));
  if (joins && state.idle >= MAX_IDLE) return stop(exhausted(state, "two passes brought nothing new", {}));
  const limit = limits(state, facts, policy, end.where);
  if (limit !== null) return stop(limit);
  return heal(state, end, facts, policy) ?? stop(noWay(state, facts));
}

/** The same, with a shorter history. */
function shortened(next: Decision | null): Decision | null {
  if (next === null || next.action.do !== "send") return next;
  return { state: { ...next.state, shorten: true }, action: { ...next.action, shorten: true } };
}

function windowFull(state: State, facts: Facts): Failure {
  return exhausted(state, "the context window is full", { room: facts.room });
}

function discarded(
  before: State,
  end: Extract<PassEnd, { on: "discarded" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision {
  const state: State = {
    ...before,
    began: before.began + 1,
    generated: before.generated + end.generated,
    // A server found not to resume has cost no try at the joint.
    discards: end.demote ? 0 : before.discards + 1,
    ways: end.demote ? withoutTried(before) : before.ways,
  };
  const stop = (why: Failure) => ({ state, action: halt(state, before.cause ?? "reply_cap", policy, why) });
  const carried = before.strategy === "parts";
  const limit = limits(state, facts, policy, carried ? "tool" : "text");
  if (limit !== null) return stop(limit);
  const enough = state.discards >= MAX_DISCARDS;
  const cap = capWithin(before.cap, facts, facts.room);
  const on = carried
    ? ((enough ? null : part(state, facts, policy, cap)) ?? smaller(state, facts, cap))
    : enough || facts.shownTool
      ? null
      : goOn(state, facts, cap, facts.divisible);
  const why = () =>
    enough ? exhausted(state, "the model does not go on from where it was cut", {}) : noWay(state, facts);
  return on ?? stop(why());
}

/** What was joined is not what was asked for: nothing of the pass is kept. */
function spoiled(
  before: State,
  end: Extract<PassEnd, { on: "spoiled" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision {
  if (before.strategy === "parts")
    return discarded(before, { on: "discarded", demote: false, generated: end.generated }, facts, policy);
  const state: State = { ...before, began: before.began + 1, generated: before.generated + end.generated };
  const limit = limits(state, facts, policy, "structured");
  const stop = (why: Failure) => ({ state, action: halt(state, before.cause ?? "reply_cap", policy, why) });
  if (limit !== null) return stop(limit);
  const whole = facts.shownText ? null : askAgain(state, facts, 0);
  const cap = capWithin(before.cap, facts, facts.room);
  const back = facts.divisible && !before.back ? goOn(state, facts, cap, true) : null;
  return whole ?? back ?? stop(exhausted(state, "what was joined is not what the format asks for", {}));
}

function unable(before: State, facts: Facts, policy: RecoveryPolicy): Decision {
  // The history could not be shortened: the window is still full.
  if (before.shorten) return { state: before, action: stopOrFail(before, facts, policy, windowFull(before, facts)) };
  const carried = before.strategy === "parts";
  const state: State = {
    ...before,
    ways: withoutTried(before),
    parts: carried ? before.parts - 1 : before.parts,
  };
  const cap = capWithin(before.cap, facts, facts.room);
  const next = carried
    ? (part(state, facts, policy, cap) ?? smaller(state, facts, cap))
    : goOn(state, facts, cap, before.back);
  return next ?? { state, action: halt(state, before.cause ?? "reply_cap", policy, noWay(state, facts)) };
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
    const strategy = before.strategy === "first" ? "retry" : before.strategy;
    return send({ ...before, retries: before.retries + 1 }, { ...before, strategy }, wait);
  }
  return { state: before, action: stopOrFail(before, facts, policy, end.failure) };
}

function lesson(
  before: State,
  end: Extract<PassEnd, { on: "lesson" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision {
  const ways = end.demote ? withoutTried(before) : before.ways;
  const state = { ...before, lessons: before.lessons + 1, ways };
  const stop = () => ({ state, action: stopOrFail(state, facts, policy, end.failure) });
  if (state.lessons > MAX_LESSONS) return stop();
  if (end.demote) return goOn(state, facts, before.cap, before.back) ?? stop();
  if (before.effort === null || facts.steps.length > 0) return send(state, before);
  // Effort cannot be lowered here after all: without it the request differs from the one that was cut by a larger cap alone.
  const used = before.ceilings.at(-1)?.tokens ?? 0;
  const larger =
    before.cap !== null && before.cap > used ? before.cap : largerCap({ ...state, cap: used }, facts, used);
  return larger === null ? stop() : send(state, { strategy: "reask", cap: larger });
}

function overflow(
  before: State,
  end: Extract<PassEnd, { on: "overflow" }>,
  facts: Facts,
  policy: RecoveryPolicy,
): Decision {
  const state = { ...before, lessons: before.lessons + 1 };
  if (end.fits && before.lessons === 0) {
    const strategy = before.strategy === "first" ? "retry" : before.strategy;
    return send(state, { ...before, strategy, cap: capWithin(before.cap, facts, facts.room) });
  }
  if (policy.overflow === "compact" && facts.compactable && before.compactions === 0)
    return send({ ...state, compactions: 1 }, { ...before, shorten: true });
  return { state, action: stopOrFail(state, facts, policy, end.failure) };
}

/** Why no further pass may begin, or null. */
function limits(state: State, facts: Facts, policy: RecoveryPolicy, where: Where): Failure | null {
  // A call in parts has a count of its own, begun once no larger cap can hold it.
  const attempts = where === "tool" && state.parts > 0 ? policy.maxAttempts + policy.maxParts : policy.maxAttempts;
  if (state.began >= attempts) return exhausted(state, `${state.began} attempts were made`, {});
  if (facts.secondsLeft < policy.minAttemptSeconds)
    return exhausted(
      state,
      `${Math.max(0, Math.floor(facts.secondsLeft))} s are left, a further attempt wants ${policy.minAttemptSeconds} s`,
      { seconds_left: Math.max(0, Math.floor(facts.secondsLeft)), min_attempt_seconds: policy.minAttemptSeconds },
      "insufficient_remaining_time",
    );
  // Text can only be gone on with; all else may be asked again, which needs no room for what is there.
  const room = where === "text" ? facts.room : facts.roomAgain;
  if (room !== null && cramped(room))
    return exhausted(state, `${Math.max(0, room)} tokens of room are left in the window`, { room });
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

/** The ways that are left without the one that the last pass went. */
function withoutTried(state: State): readonly Way[] {
  const tried = state.strategy === "parts" ? (state.by === "raw" ? "raw" : null) : state.strategy;
  return state.ways.filter((way) => way !== tried);
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
