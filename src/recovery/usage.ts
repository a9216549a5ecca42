import { asNumber, isObject, type JsonObject } from "../core/json.ts";
import type { Usage } from "../core/part.ts";

/** For an estimate where the upstream tells no usage. */
export const CHARACTERS_PER_TOKEN = 4;

/** What one pass cost, and how much of its output the client was given (0 to 1; 0: discarded). */
export interface Spent {
  readonly usage: Usage | null;
  /** Tokens generated, where the upstream did not say: an estimate. */
  readonly estimate: number;
  share: number;
}

/**
 * Usage as the client sees it: the prompt of the first pass, the completions of all delivered passes less what was dropped of them,
 * detail fields summed. null where no pass told any.
 */
export function joinedUsage(passes: readonly Spent[]): Usage | null {
  const first = passes.find((pass) => pass.usage !== null)?.usage;
  if (!first) return null;
  const delivered = passes.filter((pass) => pass.share > 0);
  if (delivered.length === 1 && delivered[0]?.share === 1 && delivered[0].usage === first) return first;
  let completion = 0;
  let reasoning: number | null = null;
  let raw: JsonObject = first.raw;
  for (const pass of delivered) {
    completion += Math.round((pass.usage?.completion ?? pass.estimate) * pass.share);
    if (pass.usage?.reasoning != null) reasoning = (reasoning ?? 0) + pass.usage.reasoning;
    if (pass.usage !== null && pass.usage !== first) raw = summedDetails(raw, pass.usage.raw);
  }
  return { prompt: first.prompt, completion, reasoning, raw };
}

/** Some of the joined usage is our own estimate, since not every delivered pass told its own. */
export function isEstimated(passes: readonly Spent[]): boolean {
  const delivered = passes.filter((pass) => pass.share > 0);
  return delivered.some((pass) => pass.usage === null) && delivered.some((pass) => pass.usage !== null);
}

/** Every token that the upstream was paid for. */
export function billed(passes: readonly Spent[]): { prompt_tokens: number; completion_tokens: number } {
  let prompt = 0;
  let completion = 0;
  for (const pass of passes) {
    prompt += pass.usage?.prompt ?? 0;
    completion += pass.usage?.completion ?? pass.estimate;
  }
  return { prompt_tokens: prompt, completion_tokens: completion };
}

/** Detail objects of completions are summed; those of the prompt stay the first pass's. */
function summedDetails(into: JsonObject, from: JsonObject): JsonObject {
  const out: JsonObject = { ...into };
  for (const [field, value] of Object.entries(from)) {
    if (!isObject(value) || !/completion|output/.test(field)) continue;
    const sums: JsonObject = { ...(isObject(out[field]) ? out[field] : {}) };
    for (const [name, number] of Object.entries(value)) {
      const added = asNumber(number);
      if (added !== undefined) sums[name] = (asNumber(sums[name]) ?? 0) + added;
    }
    out[field] = sums;
  }
  return out;
}
