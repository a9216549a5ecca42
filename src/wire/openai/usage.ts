import { asNumber, asObject, type JsonObject } from "../../core/json.ts";
import type { Usage } from "../../core/part.ts";

/**
 * Usage of a chunk or a body: `usage`, Groq's `x_groq.usage`, or where there is neither llama-server's `timings`.
 * An empty object tells nothing.
 */
export function usageOf(json: JsonObject): Usage | null {
  return told(asObject(json.usage)) ?? told(asObject(asObject(json.x_groq)?.usage)) ?? timed(asObject(json.timings));
}

function told(raw: JsonObject | undefined): Usage | null {
  if (raw === undefined) return null;
  const prompt = asNumber(raw.prompt_tokens) ?? null;
  const completion = asNumber(raw.completion_tokens) ?? null;
  if (prompt === null && completion === null) return null;
  const reasoning = asNumber(asObject(raw.completion_tokens_details)?.reasoning_tokens) ?? null;
  return { prompt, completion, reasoning, raw };
}

/** `prompt_n` leaves out what came from the cache (`cache_n`). */
function timed(timings: JsonObject | undefined): Usage | null {
  const completion = asNumber(timings?.predicted_n);
  const prompt = asNumber(timings?.prompt_n);
  if (completion === undefined || prompt === undefined) return null;
  return { prompt: prompt + (asNumber(timings?.cache_n) ?? 0), completion, reasoning: null, raw: {} };
}

/** Joined usage in the shape that the upstream gave it: its own object with the numbers replaced. */
export function usageObject(usage: Usage): JsonObject {
  const { prompt, completion, reasoning, raw } = usage;
  const written: JsonObject = {
    ...raw,
    prompt_tokens: prompt ?? 0,
    completion_tokens: completion ?? 0,
    total_tokens: (prompt ?? 0) + (completion ?? 0),
  };
  if (reasoning !== null) {
    written.completion_tokens_details = { ...asObject(raw.completion_tokens_details), reasoning_tokens: reasoning };
  }
  return written;
}
