import { cramped, largerCap, laterCap } from "./caps.ts";
import { type Decision, send } from "./moves.ts";
import { type Facts, isWholeTurn, type PassEnd, type RecoveryPolicy, type State, type Step } from "./state.ts";

/** Passes in a row without progress. */
export const MAX_IDLE = 2;

export type Cut = Extract<PassEnd, { on: "cut" }>;

/** How this cut is mended, or null where nothing can. */
export function heal(state: State, end: Cut, facts: Facts, policy: RecoveryPolicy): Decision | null {
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

/** The call is carried on from where it stopped: in the template's own syntax, else as text that the model is shown. */
export function part(state: State, facts: Facts, policy: RecoveryPolicy, cap: number | null): Decision | null {
  if (state.parts >= policy.maxParts || (state.parts > 0 && state.idle >= MAX_IDLE) || cramped(facts.room)) return null;
  const raw = facts.carries.raw && state.ways.includes("raw");
  const by = raw ? "raw" : facts.carries.text && state.ways.includes("nudge") ? "text" : null;
  if (by === null) return null;
  const idle = state.parts === 0 ? 0 : state.idle;
  return send({ ...state, parts: state.parts + 1, idle }, { strategy: "parts", cap, by });
}

/** The last resort, once: a hint to make the call in smaller pieces. */
export function smaller(state: State, facts: Facts, cap: number | null): Decision | null {
  if (state.hinted || facts.shownTool || state.ways.length === 0 || cramped(facts.roomAgain)) return null;
  return send({ ...state, hinted: true }, { strategy: "reask", cap, hint: "smaller" });
}

/** The lost turn as it was. */
function again(state: State): Decision {
  return send(state, { ...state, strategy: state.strategy === "first" ? "retry" : state.strategy });
}

/** All of the turn, with a larger cap. */
export function askAgain(state: State, facts: Facts, generated: number, effort: Step | null = null): Decision | null {
  const cap = largerCap(state, facts, generated);
  if (cap === null) return null;
  return send(effort === null ? state : { ...state, lowered: effort }, { strategy: "reask", cap, effort });
}

/** On with what is there, in the best way that is left. `back`: from the last whole element of its list. */
export function goOn(state: State, facts: Facts, cap: number | null, back = false): Decision | null {
  const way = state.ways[0];
  return way === undefined || cramped(facts.room) ? null : send(state, { strategy: way, cap, back });
}
