import { characterBefore, inkEnd, inkStart, isUnspaced, lastGrapheme, solidEnd, startsWord } from "./characters.ts";
import { opensFence } from "./fence.ts";
import { inkOf, proves, standsAt } from "./ink.ts";
import type { Discard } from "./verdict.ts";

/** What to send where a server can only be asked to go on. */
export interface Nudge {
  /** For the assistant turn: the text so far up to the last safe boundary, without trailing blanks. */
  readonly partial: string;
  /** What the client has beyond it: must come again as the next characters. */
  readonly seen: string;
  /** The last words of `partial`, verbatim: the new message is to begin with them. */
  readonly anchor: string;
  /** For the hidden user turn. */
  readonly instruction: string;
}

/** A word longer than this is no word (base64, a URL): it is cut at a grapheme. */
const LONGEST_WORD = 40;
/** Inside such a run, an anchor or what must come again has this length. */
const UNBROKEN = 40;
/** An anchor is looked for in this much of the text's end. */
const LONGEST_ANCHOR = 240;
/** How far a second nudge goes back to find a place whose text proves itself when it comes again, and at best begins a line. */
const LONGEST_ROLLBACK = 400;
const NEAR_LINE = 160;
/** Text before the anchor in which it must not occur already. */
const UNIQUE_WITHIN = 16_000;

/**
 * Prepares to ask for the rest of a cut text.
 *
 * The first nudge ends at the last word boundary: half a word tells the model nothing. How the second one differs depends on why the
 * first answer could not be joined: either it goes back far enough that what comes again proves itself, or it shows everything.
 *
 * @param sent what the client was given, solid (`solidEnd`) and not empty
 * @param after why the answer to the nudge before was discarded; null for the first
 */
export function prepareNudge(sent: string, after: Discard | null): Nudge {
  const end = boundary(sent, after);
  const partial = sent.slice(0, end);
  const anchor = partial.slice(anchorStart(sent, end));
  return { partial, seen: sent.slice(end), anchor, instruction: instruction(anchor, after) };
}

/** Where the partial ends. Always after ink. */
function boundary(sent: string, after: Discard | null): number {
  const whole = inkEnd(sent) === 0 ? sent.length : inkEnd(sent);
  switch (after) {
    case null:
      return nearBoundary(sent) ?? whole;
    // It goes on, but from elsewhere: show all that it must go on from.
    case "ahead":
    case "diverged":
      return whole;
    // It may well go straight on, or not go on at all: make it prove itself.
    case "no_alignment":
    case "ambiguous":
    case "restart_diverged":
    case "glued":
    case "comment_only":
    case "language":
    case "loop":
      return farBoundary(sent) ?? nearBoundary(sent) ?? whole;
    default:
      return after satisfies never;
  }
}

/** Before the unit that the cut may have halved: a word, a number, a run of signs, a list marker, a fence line, a grapheme. */
function nearBoundary(sent: string): number | null {
  const end = solidEnd(sent);
  const ink = inkEnd(sent.slice(0, end));
  if (ink < end) return ink === 0 ? null : ink;
  const cut = inkEnd(sent.slice(0, lastUnit(sent.slice(0, end))));
  return cut === 0 ? null : cut;
}

/** Only a marker, a fence or a heading sign so far: the line is to be begun again. */
const LINE_OPENING = /^\s*(?:[-*+|]|\d{1,9}[.)]?|#{1,6}|>+|`{1,2}|~{1,2})$/;
const UNIT = /(?:\p{N}[\p{N}.,]*|(?:[\p{L}\p{M}\p{N}_'’-]|\u200c|\u200d)+|([\p{P}\p{S}])\1*)$/u;

function lastUnit(text: string): number {
  const line = text.lastIndexOf("\n") + 1;
  const last = text.slice(line);
  if (LINE_OPENING.test(last) || opensFence(last.trimStart()) !== null) return line;
  const grapheme = lastGrapheme(text);
  const character = characterBefore(text, text.length);
  if (isUnspaced(character) || text.length - grapheme > character.length) return grapheme;
  let from = Math.max(0, text.length - LONGEST_WORD - 1);
  for (let i = text.length; i > from; i--) if (isUnspaced(characterBefore(text, i))) from = i;
  const unit = UNIT.exec(text.slice(from))?.[0] ?? "";
  return unit === "" || unit.length > LONGEST_WORD ? grapheme : text.length - unit.length;
}

/**
 * Far enough back that the text beyond is no coincidence when it comes again: at the start of a line or sentence if one is near, else of
 * a word. So a model that takes no notice of the anchor and simply goes on still proves where it went on from.
 */
function farBoundary(sent: string): number | null {
  const limit = Math.max(0, sent.length - LONGEST_ROLLBACK);
  let word: number | null = null;
  for (let at = inkEnd(sent) - 1; at > limit; at--) {
    if (!startsWord(sent, at) || !proves(sent.slice(at), false)) continue;
    const cut = inkEnd(sent.slice(0, at));
    if (cut === 0) break;
    word ??= cut;
    if (word - cut > NEAR_LINE) break;
    const before = standsAt(sent, at);
    if (before === "line" || (before === "clause" && /[.!?。！？]/.test(sent.charAt(cut - 1)))) return cut;
  }
  return word ?? (sent.length > 2 * UNBROKEN ? insideRun(sent, sent.length) : null);
}

/** A place inside a run of ink without words, where neither words nor blanks are near. */
function insideRun(sent: string, end: number): number {
  return lastGrapheme(sent.slice(0, Math.max(1, end - UNBROKEN)));
}

/**
 * The shortest run of last words that is no coincidence, occurs only once, begins inside a clause (where text that rightly repeats does
 * not begin), and does not begin as what follows it does, so that nothing but the anchor can look like the anchor.
 */
function anchorStart(sent: string, end: number): number {
  const limit = Math.max(0, end - LONGEST_ANCHOR);
  const earlier = inkOf(sent.slice(Math.max(0, limit - UNIQUE_WITHIN), end)).text;
  let fallback: number | null = null;
  let start = end;
  for (let at = end - 1; at >= limit; at--) {
    if (!startsWord(sent, at)) continue;
    start = at;
    const anchor = sent.slice(at, end);
    if (!proves(anchor, false) || bordered(sent, at, end)) continue;
    const inside = standsAt(sent, at) === "middle";
    const ink = inkOf(anchor).text;
    if (inside && earlier.indexOf(ink) === earlier.length - ink.length) return at;
    if (inside || fallback === null) fallback ??= at;
  }
  return fallback ?? (start < end ? start : insideRun(sent, end));
}

/** Some later place at which the model may have gone on begins with the same words. */
function bordered(sent: string, start: number, end: number): boolean {
  const whole = inkOf(sent.slice(start)).text.toLowerCase();
  for (let at = start + 1; at < end; at++)
    if (startsWord(sent, at) && whole.startsWith(inkOf(sent.slice(at)).text.toLowerCase())) return true;
  const seen = inkOf(sent.slice(inkStart(sent, end))).text.toLowerCase();
  return seen !== "" && whole.startsWith(seen);
}

function instruction(anchor: string, after: Discard | null): string {
  const order = [
    "Your last message was cut off by a length limit. Go on with it as if it had never been cut.",
    "Begin with its last words, copied character for character, and write straight on from there:",
    `<last_words>\n${anchor}\n</last_words>`,
    "Keep the language, format and indentation of that message. No greeting, no explanation, no remark on the cut. Do not start again or repeat anything else, and do not reopen a code fence, list, table or tag that is open already.",
  ];
  if (after === "language")
    order.push("Write in the language of your last message, not in the language of this request.");
  else if (after !== null)
    order.push(
      "The first characters of your answer must be those last words, without the tags. If nothing is left to say, write them alone.",
    );
  return order.join("\n");
}
