/** Response headers, names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Nobody means more than a day: what is larger is a slip, and a day is already more than anyone waits. */
const MOST_SECONDS = 86_400;

/**
 * Seconds that an upstream asks to wait, or null where it does not say or says nonsense (-1, `abc`). The headers come first
 * (`retry-after-ms`, `retry-after` as seconds or date), then a hint in the message: "Please try again in 6m0s".
 */
export function retryAfterSeconds(headers: Headers, message: string, now: number): number | null {
  const seconds =
    scaled(one(headers["retry-after-ms"]), 1000) ??
    scaled(one(headers["retry-after"]), 1) ??
    until(one(headers["retry-after"]), now) ??
    hinted(message);
  return seconds === null ? null : Math.min(seconds, MOST_SECONDS);
}

function one(header: string | readonly string[] | undefined): string {
  return (typeof header === "string" ? header : (header?.[0] ?? "")).trim();
}

function scaled(text: string, perSecond: number): number | null {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) / perSecond : null;
}

/** An HTTP date names a weekday; without one, `Date.parse` would take almost any number for a year. */
function until(text: string, now: number): number | null {
  const date = /^[A-Z][a-z]+, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

/** `20s`, `6m0s`, `1h2m`, `120ms`, after "try again in" (OpenAI, Groq) or "retry in" (Gemini). */
function hinted(message: string): number | null {
  const found = /(?:try again|retry) in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?/i.exec(
    message,
  );
  const [hours, minutes, seconds, ms] = (found ?? []).slice(1);
  if ([hours, minutes, seconds, ms].every((part) => part === undefined)) return null;
  return Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0) + Number(ms ?? 0) / 1000;
}
