import { asNumber, asObject, type JsonObject } from "../../core/json.ts";
import type { Usage } from "../../core/part.ts";

/** Fields that count the prompt: those of the first pass stand. */
const PROMPT = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"] as const;

/** `input_tokens` leaves out what came from a cache or went into one. */
export function usageOf(raw: JsonObject): Usage {
  const counted = PROMPT.map((field) => asNumber(raw[field])).filter((tokens) => tokens !== undefined);
  return {
    prompt: counted.length === 0 ? null : counted.reduce((sum, tokens) => sum + tokens, 0),
    completion: asNumber(raw.output_tokens) ?? null,
    reasoning: asNumber(asObject(raw.output_tokens_details)?.thinking_tokens) ?? null,
    raw,
  };
}

/** Usage is told twice, each time for the whole message: what comes later stands, but where it says nothing or 0. */
export function laterUsage(before: JsonObject, later: JsonObject): JsonObject {
  const all = { ...before };
  for (const [field, told] of Object.entries(later)) if (told || !all[field]) all[field] = told;
  return all;
}

/**
 * Joined usage in the fields in which the upstream told it.
 * @param told the fields to write
 * @param first usage as the first pass told it
 */
export function usageObject(usage: Usage | null, told: JsonObject, first: JsonObject): JsonObject {
  const written: JsonObject = {};
  for (const [field, own] of Object.entries(told)) {
    const joined = usage?.raw[field];
    written[field] = PROMPT.some((one) => one === field) ? (first[field] ?? joined ?? own) : (joined ?? own);
  }
  // A client's accumulator reads this one unasked.
  written.output_tokens = usage?.completion ?? asNumber(told.output_tokens) ?? 0;
  const details = asObject(written.output_tokens_details);
  if (details !== undefined && usage !== null && usage.reasoning !== null) {
    written.output_tokens_details = { ...details, thinking_tokens: usage.reasoning };
  }
  return written;
}
