import type { Count } from "./count.ts";

/** A report below this share of the least that the prompt can count is no matter of tokenizers: messages are missing from it. */
const SHARE = 0.75;
/** Tokens by which templates and short prompts may differ without meaning anything. */
const SLACK = 64;

/**
 * Whether the server reports far fewer prompt tokens than the prompt has: it dropped messages without a word (Ollama drops the oldest).
 * A limit, a missing or a zero report prove nothing.
 *
 * @param reported prompt tokens as the upstream counted them, cached ones included; null: not told
 */
export function silentlyTruncated(count: Count | null, reported: number | null): boolean {
  if (count === null || count.method === "ceiling" || reported === null || reported <= 0) return false;
  const least = count.tokens - count.bound;
  return reported < least * SHARE && least - reported > SLACK;
}
