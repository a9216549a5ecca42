import { asNumber, asObject, type JsonObject } from "../../core/json.ts";
import type { Usage } from "../../core/part.ts";

/** Usage of a response, or null where it has none. `input_tokens` holds the cached ones too. */
export function usageOf(response: JsonObject): Usage | null {
  const raw = asObject(response.usage);
  const prompt = asNumber(raw?.input_tokens) ?? null;
  const completion = asNumber(raw?.output_tokens) ?? null;
  if (raw === undefined || (prompt === null && completion === null)) return null;
  const reasoning = asNumber(asObject(raw.output_tokens_details)?.reasoning_tokens) ?? null;
  return { prompt, completion, reasoning, raw };
}

/** Joined usage in the shape that the upstream gave it: its own object with the numbers replaced. */
export function usageObject({ prompt, completion, reasoning, raw }: Usage): JsonObject {
  const written: JsonObject = {
    ...raw,
    input_tokens: prompt ?? 0,
    output_tokens: completion ?? 0,
    total_tokens: (prompt ?? 0) + (completion ?? 0),
  };
  if (reasoning !== null) {
    written.output_tokens_details = { ...asObject(raw.output_tokens_details), reasoning_tokens: reasoning };
  }
  return written;
}
