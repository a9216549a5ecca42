import type { Finish, Usage } from "../core/part.ts";
import type { Resume } from "../upstream/dialect.ts";
import type { ProbeReport } from "./report.ts";

/** Tokens. */
export const PROBE_CAP = 16;
/** More than the cap can hold, so that the reply is cut, and begun in a way that leaves no doubt about how it goes on. */
export const PROBE_PROMPT = "Count from 1 to 60 in digits, with one space between the numbers and nothing else.";
export const PROBE_PARTIAL = "1 2 3 4 5 6 7 8 9 10 11 12";

/** What came back. */
export interface Probed {
  readonly model: string;
  /** HTTP status; null: no answer. */
  readonly status: number | null;
  /** The server said that the conversation may not end with the assistant. */
  readonly refused: boolean;
  readonly text: string;
  readonly finish: Finish | null;
  readonly usage: Usage | null;
  /** How the trailing message was sent; null: none was. */
  readonly resume: Resume | null;
}

export function probeReport({ model, status, refused, text, finish, usage, resume }: Probed): ProbeReport {
  return {
    model,
    status,
    finish_reason: finish?.raw ?? null,
    completion_tokens: usage?.completion ?? null,
    names_cuts: finish?.kind === "cap",
    reports_usage: typeof usage?.completion === "number",
    trailing_message: resume === null ? "not_tried" : refused ? "refused" : trailing(text, resume),
  };
}

function trailing(text: string, { echo }: Resume): ProbeReport["trailing_message"] {
  const said = text.trimStart();
  const own = echo !== "never" && said.startsWith(PROBE_PARTIAL) ? said.slice(PROBE_PARTIAL.length).trimStart() : said;
  if (/^13\b/.test(own)) return "resumed";
  return /^1\b/.test(own) ? "restarted" : "untold";
}
