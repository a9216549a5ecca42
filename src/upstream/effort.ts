import type { WireName } from "../core/ask.ts";
import { asNumber, asObject, asString, type JsonObject } from "../core/json.ts";

export type Step = "lower" | "off";

/** From least to most, as servers name it. */
const LADDER = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/** What servers assume where nothing is asked. */
const DEFAULT = "medium";
/** Tokens: the least thinking budget that Anthropic takes; also what OpenRouter makes of `minimal`. */
const LEAST_BUDGET = 1024;

/**
 * The effort to ask for instead of `current`, out of what the model takes (least first); null: it is at its least already.
 */
export function nextEffort(current: string | undefined, step: Step, takes: readonly string[]): string | null {
  const now = LADDER.indexOf(current ?? DEFAULT);
  const below = takes.filter((effort) => LADDER.indexOf(effort) < (now === -1 ? LADDER.indexOf(DEFAULT) : now));
  return (step === "off" ? below[0] : below.at(-1)) ?? null;
}

/** The field that carries effort on each wire, set one step lower or to the least. */
export function effortOn(wire: WireName, body: JsonObject, step: Step, takes: readonly string[]): JsonObject | null {
  if (wire === "messages") return lessThinking(body, step);
  if (wire === "responses") {
    const effort = nextEffort(asString(asObject(body.reasoning)?.effort), step, takes);
    return effort === null ? null : { reasoning: { effort } };
  }
  const effort = nextEffort(asString(body.reasoning_effort), step, takes);
  return effort === null ? null : { reasoning_effort: effort };
}

/** Anthropic's own shape: half the budget, or none. Only what the client asked for can be lowered. */
export function lessThinking(body: JsonObject, step: Step): JsonObject | null {
  const budget = asNumber(asObject(body.thinking)?.budget_tokens);
  if (step === "off") return { thinking: { type: "disabled", budget_tokens: undefined } };
  if (budget === undefined || budget <= LEAST_BUDGET) return null;
  return { thinking: { budget_tokens: Math.max(LEAST_BUDGET, Math.floor(budget / 2)) } };
}
