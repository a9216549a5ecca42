import type { Cause } from "../core/cut.ts";
import { type ErrorCode, type Facts as ErrorFacts, type Failure, failure } from "../core/error.ts";
import type { Action, Facts, RecoveryPolicy, Sending, State } from "./state.ts";

/** What is done next, and what is remembered of it. */
export type Decision = { readonly state: State; readonly action: Action };

const PLAIN: Sending = {
  strategy: "first",
  cap: null,
  effort: null,
  by: null,
  hint: null,
  shorten: false,
  back: false,
};

/** Sends a pass; what `next` does not say is plain. */
export function send(state: State, next: Partial<Sending> & Pick<Sending, "strategy">, waitSeconds = 0): Decision {
  const { strategy, cap, effort, by, hint, shorten, back } = { ...PLAIN, ...next };
  const sending: Sending = { strategy, cap, effort, by, hint, shorten, back };
  return { state: { ...state, ...sending }, action: { do: "send", ...sending, waitSeconds } };
}

/** A cut that is not mended: told with what there is, or as the typed error where the config says so. */
export function halt(state: State, cause: Cause, policy: RecoveryPolicy, why: Failure | null): Action {
  const as = policy.onExhausted === "error" && cause !== "honoured_cap" ? "error" : "partial";
  return { do: "stop", cause, failure: why ?? (as === "error" ? exhausted(state, "the reply was cut", {}) : null), as };
}

/** A failure after something was shown ends the reply as cut; before, it is the answer. */
export function stopOrFail(state: State, facts: Facts, policy: RecoveryPolicy, why: Failure): Action {
  if (state.cause === null && !facts.shownText && !facts.shownReasoning && !facts.shownTool)
    return { do: "fail", failure: why };
  return halt(state, state.cause ?? "upstream_broken", policy, why);
}

/** Why it stays cut. @param facts beside the ceiling that each attempt hit */
export function exhausted(
  state: State,
  why: string,
  facts: ErrorFacts,
  code: ErrorCode = "output_cap_exhausted",
): Failure {
  return failure(code, `The reply is still cut: ${why}.`, {
    attempts: state.began,
    ceilings: state.ceilings.map(({ tokens }) => tokens),
    causes: state.ceilings.map(({ cause }) => cause),
    ...facts,
  });
}

/** Nothing is left that could mend the cut. */
export function noWay(state: State, facts: Facts): Failure {
  return exhausted(state, "no larger cap and no way to go on", { room: facts.room, model_limit: facts.modelLimit });
}
