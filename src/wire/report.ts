import type { JsonObject } from "../core/json.ts";
import type { Report } from "./wire.ts";

/** The `lastword` object as clients see it. */
export function lastwordOf(report: Report): JsonObject {
  const { outcome, cause, code, full } = report;
  const warnings = [...report.warnings];
  if (full === null) return { outcome, cause, code, warnings };
  return {
    outcome,
    cause,
    code,
    attempts: full.attempts.map((attempt) => ({ ...attempt, seam: attempt.seam && { ...attempt.seam } })),
    window: full.window,
    window_source: full.window_source,
    prompt_tokens_estimated: full.prompt_tokens_estimated,
    billed: { ...full.billed },
    warnings,
  };
}
