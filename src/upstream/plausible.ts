import type { ModelFacts } from "./dialect.ts";

/** No server is run with a window below this, in tokens. One bug printed "maximum context length is 3 tokens" (vllm 33418). */
const LEAST_WINDOW = 128;
/** A list that is not of a running instance may be too high, for routing may pick a smaller one, but not by more than this. */
const WIDE_MARGIN = 16;

/** What speaks for or against a window that an error names. Tokens. */
export interface Standing {
  readonly listed: ModelFacts | null;
  /** The most prompt and completion that the server was seen to serve; 0: none. */
  readonly served: number;
  /** The prompt as the same error names it. */
  readonly prompt: number | null;
}

/**
 * Whether a window that an overflow error names may be believed:
 * - never below what was served, and never below 128
 * - below a `loaded` size: no, for the server itself says that it runs with more. But where its list is known to be stale
 *   (LM Studio 2304), yes, unless the prompt that it names would have fitted
 * - below a `served` size: down to a sixteenth, for a router may pick a smaller provider than it lists
 * - a trained maximum, a catalog or nothing contradicts nobody
 */
export function plausibleWindow(window: number, { listed, served, prompt }: Standing): boolean {
  if (!Number.isSafeInteger(window) || window < LEAST_WINDOW || window < served) return false;
  if (listed === null || listed.window === null || window >= listed.window) return true;
  switch (listed.source) {
    case "loaded":
      return listed.doubtful === true && (prompt === null || prompt >= window);
    case "served":
      return window * WIDE_MARGIN >= listed.window;
    case "config":
    case "error":
    case "catalog":
    case "trained":
    case "unknown":
      return true;
    default:
      return listed.source satisfies never;
  }
}
