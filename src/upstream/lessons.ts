import type { Fault } from "../core/part.ts";
import { type Evidence, evidenceOf } from "./fault.ts";
import { CODES, WORDINGS } from "./wordings.ts";

export { faultOf } from "./fault.ts";
export { plausibleWindow } from "./plausible.ts";
export { retryAfterSeconds } from "./retry-after.ts";

/** What an upstream's error teaches. Tokens throughout; null: not told. */
export type Lesson =
  /** Prompt, or prompt and cap, are over the window. */
  | {
      readonly kind: "overflow";
      readonly window: number | null;
      /** A limit on prompts alone, where that is what was exceeded. */
      readonly maxInput: number | null;
      readonly prompt: number | null;
      /** The output that was asked for. */
      readonly asked: number | null;
      /** `prompt` is what the server counted; false: a bound or an estimate ("at least", "about"), nothing to calibrate with. */
      readonly promptExact: boolean;
    }
  /** The cap is above what the model may write: a smaller one will do. */
  | { readonly kind: "cap_too_large"; readonly max: number }
  /** The cap's field is not read: `use` is. */
  | { readonly kind: "cap_field"; readonly use: string }
  /** The conversation may not end with the assistant. */
  | { readonly kind: "prefill_refused" }
  /** The same, but only while the model thinks. */
  | { readonly kind: "thinking_prefill_refused" }
  /** The resumed text may not end in whitespace. */
  | { readonly kind: "whitespace_refused" }
  /** A top-level field that this server does not take. */
  | { readonly kind: "option_refused"; readonly field: string }
  /** The effort, thinking budget or thinking switch is not taken. */
  | { readonly kind: "effort_refused" }
  /** The credit does not cover the cap; `affordable` would be covered. */
  | { readonly kind: "credits"; readonly affordable: number | null }
  /** Used up: no retry will help. */
  | { readonly kind: "quota" }
  /** Prompt and asked cap together are over a rate: no retry of the same request will help. */
  | { readonly kind: "tokens_per_minute"; readonly limit: number | null; readonly requested: number | null }
  | { readonly kind: "auth" }
  | { readonly kind: "model_not_found" }
  /** The server does not know this path or method. */
  | { readonly kind: "wire_missing" }
  /** OpenAI's 400 for reasoning that took the whole cap: a cut, not a mistake of the client's. */
  | { readonly kind: "could_not_finish" }
  /** May well work in a moment. */
  | { readonly kind: "transient" }
  /** The request itself is at fault, for a reason that none of these names. */
  | { readonly kind: "invalid" };

/**
 * What is to be learned from an error, by its wording first (it has the numbers), then by the codes that it names, then by what
 * sounds like an overflow, then by its status. Pure; the tables are in `wordings.ts`.
 */
export function lessonOf(fault: Fault): Lesson {
  const said = evidenceOf(fault);
  return byWording(said, fault.status) ?? byCode(said) ?? bySound(said, fault.status) ?? byStatus(fault.status);
}

function byWording(said: Evidence, status: number): Lesson | null {
  const texts = said.texts.map(withoutSeparators);
  for (const [, pattern, means] of WORDINGS) {
    for (const text of texts) {
      const found = pattern.exec(text);
      const lesson = found === null ? null : means(found.groups ?? {}, status);
      if (lesson !== null) return withNumbers(lesson, said);
    }
  }
  return null;
}

function byCode(said: Evidence): Lesson | null {
  for (const [codes, means] of CODES) {
    if (!said.codes.some((code) => codes.includes(code))) continue;
    const lesson = means(said.param ?? "");
    if (lesson !== null) return withNumbers(lesson, said);
  }
  return null;
}

/** Last of all, and only where the request was refused or its stream failed: a rate limit may speak of too many tokens too. */
const SOUNDS_LIKE_OVERFLOW =
  /context_length_exceeded|exceed_context_size_error|context[_ ](?:length|window|size)[^.]{0,40}exceed|exceed\w*[^.]{0,40}context[_ ](?:length|window|size)|context window exceeds limit|too many (?:input )?tokens|prompt is too long/i;
const NEVER_OVERFLOW: readonly number[] = [401, 402, 403, 404, 405, 429];

function bySound(said: Evidence, status: number): Lesson | null {
  if (status >= 500 || NEVER_OVERFLOW.includes(status)) return null;
  if (!said.texts.some((text) => SOUNDS_LIKE_OVERFLOW.test(text))) return null;
  return { kind: "overflow", window: said.window, maxInput: null, prompt: said.prompt, asked: null, promptExact: true };
}

/** Statuses that may be gone in a moment. 498: Groq's flex capacity. */
const TRANSIENT: readonly number[] = [408, 409, 425, 429, 498];

function byStatus(status: number): Lesson {
  if (status === 401 || status === 403 || status === 407) return { kind: "auth" };
  if (status === 402) return { kind: "credits", affordable: null };
  if (status === 404 || status === 405 || status === 501) return { kind: "wire_missing" };
  // An error in a 200 stream: the request was taken, and then its work failed.
  if (status < 400 || status >= 500 || TRANSIENT.includes(status)) return { kind: "transient" };
  return { kind: "invalid" };
}

/** `12,000` is 12000. */
function withoutSeparators(text: string): string {
  return text.replace(/(\d),(?=\d{3}\b)/g, "$1");
}

/** Numbers in fields of their own (llama-server) beat those in the sentence. */
function withNumbers(lesson: Lesson, said: Evidence): Lesson {
  if (lesson.kind !== "overflow") return lesson;
  return { ...lesson, window: said.window ?? lesson.window, prompt: said.prompt ?? lesson.prompt };
}
