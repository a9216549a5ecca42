import type { Cause } from "../core/cut.ts";
import { type ErrorCode, type Facts as ErrorFacts, type Failure, failure } from "../core/error.ts";
import {
  type Action,
  type Facts,
  isWholeTurn,
  type PassEnd,
  type RecoveryPolicy,
  type Sending,
  type State,
  type Step,
  type Way,
  type Where,
} from "./state.ts";

/** Code points that a pass must add to count as progress. */
const PROGRESS = 16;
/** Tokens of room below which no further pass is begun. */
const MIN_ROOM = 512;
/** Tokens: the least cap of a later pass, where window and limits allow it. */
const LATER_CAP = 4096;
/** A turn is asked again with a cap that is larger by at least this factor: a little more is cut in the same place. */
const WORTHWHILE = 1.1;
/** 4xx that teach, per request. */
const MAX_LESSONS = 2;
/** Undecidable seams at one joint: one way is tried once more, then the cut is told. */
const MAX_DISCARDS = 2;
/** Passes in a row without progress. */
const MAX_IDLE = 2;

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

type Decision = { readonly state: State; readonly action: Action };

/** What a whole reply leaves to do, for which nothing else need be known. */
export function deliver({ cause }: State): Action {
  return { do: "deliver", outcome: cause === null ? "complete" : "healed" };
}

type Cut = Extract<PassEnd, { on: "cut" }>;

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

/** How this cut is mended, or null where nothing can. */
function heal(state: State, end: Cut, facts: Facts, policy: RecoveryPolicy): Decision | null {
  const { generated } = end;
  const lost = end.cause === "upstream_broken" && isWholeTurn(state);
  switch (end.where) {
    case "text":
      return goOn(state, facts, laterCap(state, facts, generated));
    case "structured":
      if (lost && !facts.shownText) return again(state);
      return (
        (facts.shownText ? null : askAgain(state, facts, generated)) ??
        goOn(state, facts, laterCap(state, facts, generated))
      );
    case "reasoning":
    case "nothing":
      if (lost && !facts.shownText && !facts.shownReasoning) return again(state);
      return think(state, end, facts, policy);
    case "tool":
      if (lost) return again(state);
      return call(state, end, facts, policy);
    default:
      return end.where satisfies never;
  }
}

/** Reasoning ate the cap: on inside the thought where the server can, else again with more room or less effort. */
function think(state: State, end: Cut, facts: Facts, policy: RecoveryPolicy): Decision | null {
  if (end.where === "reasoning") {
    const resumes = state.ways[0] === "prefill" || state.ways[0] === "raw";
    const inside = facts.thoughtIsText ? resumes || facts.shownText : facts.resumesThoughts && resumes;
    const on = inside ? goOn(state, facts, laterCap(state, facts, end.generated)) : null;
    if (on !== null) return on;
    // A thought that was shown as text can only be gone on with.
    if (facts.thoughtIsText && facts.shownText) return null;
  }
  const larger = largerCap(state, facts, end.generated);
  const asked = state.strategy === "reask";
  const known = asked ? null : facts.helped;
  const lowers = policy.secondAttempt !== "raise" || asked || larger === null || known === "lower" || known === "off";
  const step = lowers ? nextStep(state, facts, known) : null;
  if (step !== null) {
    const raises = policy.secondAttempt !== "lower" || asked;
    const cap = (raises ? larger : null) ?? state.cap;
    return send({ ...state, lowered: step }, { strategy: "reask", cap, effort: step });
  }
  return larger === null ? null : send(state, { strategy: "reask", cap: larger });
}

/** The next step of effort that was not tried for this request; `known` helped this model before. */
function nextStep(state: State, facts: Facts, known: Facts["helped"]): Step | null {
  const left = facts.steps.filter((step) => state.lowered === "no" || (state.lowered === "lower" && step === "off"));
  return left.find((step) => step === known) ?? left[0] ?? null;
}

/** A tool call is whole or nothing: again with a larger cap, then in parts, at last with an order to make it smaller. */
function call(state: State, end: Cut, facts: Facts, policy: RecoveryPolicy): Decision | null {
  if (state.hinted) return null;
  // Where usage is not told, a pass far below its own cap shows a limit too.
  const limited = state.strategy === "reask" && state.cap !== null && 2 * end.generated < state.cap;
  const effort = policy.secondAttempt === "raise" ? null : (facts.steps.find((step) => step === "lower") ?? null);
  const whole = state.parts > 0 || limited ? null : askAgain(state, facts, end.generated, effort);
  const cap = laterCap(state, facts, end.generated);
  return whole ?? part(state, facts, policy, cap) ?? smaller(state, facts, cap);
}

function part(state: State, facts: Facts, policy: RecoveryPolicy, cap: number | null): Decision | null {
  if (state.parts >= policy.maxParts || (state.parts > 0 && state.idle >= MAX_IDLE) || cramped(facts.room)) return null;
  const raw = facts.carries.raw && state.ways.includes("raw");
  const by = raw ? "raw" : facts.carries.text && state.ways.includes("nudge") ? "text" : null;
  if (by === null) return null;
  const idle = state.parts === 0 ? 0 : state.idle;
  return send({ ...state, parts: state.parts + 1, idle }, { strategy: "parts", cap, by });
}

function smaller(state: State, facts: Facts, cap: number | null): Decision | null {
  if (state.hinted || facts.shownTool || state.ways.length === 0 || cramped(facts.roomAgain)) return null;
  return send({ ...state, hinted: true }, { strategy: "reask", cap, hint: "smaller" });
}

/** The lost turn as it was. */
function again(state: State): Decision {
  return send(state, { ...state, strategy: state.strategy === "first" ? "retry" : state.strategy });
}

function askAgain(state: State, facts: Facts, generated: number, effort: Step | null = null): Decision | null {
  const cap = largerCap(state, facts, generated);
  if (cap === null) return null;
  return send(effort === null ? state : { ...state, lowered: effort }, { strategy: "reask", cap, effort });
}

function goOn(state: State, facts: Facts, cap: number | null, back = false): Decision | null {
  const way = state.ways[0];
  return way === undefined || cramped(facts.room) ? null : send(state, { strategy: way, cap, back });
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
  if (room !== null && room < MIN_ROOM)
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

function cramped(room: number | null): boolean {
  return room !== null && room < MIN_ROOM;
}

/** The cap of a turn that is asked again, where it is well above what was not enough; null: it cannot be. */
function largerCap(state: State, facts: Facts, generated: number): number | null {
  if (cramped(facts.roomAgain)) return null;
  const cap = capAfter(state, generated, facts, facts.roomAgain);
  return cap !== null && cap >= WORTHWHILE * (state.cap ?? generated) ? cap : null;
}

/** The cap of a later pass: twice what was not enough, at least 4096, within room, limit, and what strictness leaves. */
function capAfter(state: State, generated: number, facts: Facts, room: number | null): number | null {
  return capWithin(Math.max(2 * (state.cap ?? generated), LATER_CAP), facts, room);
}

function laterCap(state: State, facts: Facts, generated: number): number | null {
  return capAfter(state, generated, facts, facts.room);
}

function capWithin(cap: number | null, facts: Facts, room: number | null): number | null {
  if (cap === null) return null;
  return Math.max(1, Math.min(cap, room ?? cap, facts.modelLimit ?? cap, facts.strictLeft ?? cap));
}

/** The ways that are left without the one that the last pass went. */
function withoutTried(state: State): readonly Way[] {
  const tried = state.strategy === "parts" ? (state.by === "raw" ? "raw" : null) : state.strategy;
  return state.ways.filter((way) => way !== tried);
}

const PLAIN: Sending = {
  strategy: "first",
  cap: null,
  effort: null,
  by: null,
  hint: null,
  shorten: false,
  back: false,
};

function send(state: State, next: Partial<Sending> & Pick<Sending, "strategy">, waitSeconds = 0): Decision {
  const { strategy, cap, effort, by, hint, shorten, back } = { ...PLAIN, ...next };
  const sending: Sending = { strategy, cap, effort, by, hint, shorten, back };
  return { state: { ...state, ...sending }, action: { do: "send", ...sending, waitSeconds } };
}

/** A cut that is not mended: told with what there is, or as the typed error where the config says so. */
function halt(state: State, cause: Cause, policy: RecoveryPolicy, why: Failure | null): Action {
  const as = policy.onExhausted === "error" && cause !== "honoured_cap" ? "error" : "partial";
  return { do: "stop", cause, failure: why ?? (as === "error" ? exhausted(state, "the reply was cut", {}) : null), as };
}

/** A failure after something was shown ends the reply as cut; before, it is the answer. */
function stopOrFail(state: State, facts: Facts, policy: RecoveryPolicy, why: Failure): Action {
  if (state.cause === null && !facts.shownText && !facts.shownReasoning && !facts.shownTool)
    return { do: "fail", failure: why };
  return halt(state, state.cause ?? "upstream_broken", policy, why);
}

/** @param facts beside the ceiling that each attempt hit */
function exhausted(state: State, why: string, facts: ErrorFacts, code: ErrorCode = "output_cap_exhausted"): Failure {
  return failure(code, `The reply is still cut: ${why}.`, {
    attempts: state.began,
    ceilings: state.ceilings.map(({ tokens }) => tokens),
    causes: state.ceilings.map(({ cause }) => cause),
    ...facts,
  });
}

function noWay(state: State, facts: Facts): Failure {
  return exhausted(state, "no larger cap and no way to go on", { room: facts.room, model_limit: facts.modelLimit });
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
