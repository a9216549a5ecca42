import { characterBefore, inkEnd, isUnspaced, lastGrapheme, solidEnd, startsWord } from "./characters.ts";
import { opensFence } from "./fence.ts";
import { inkOf, proves, standsAt } from "./ink.ts";
import { occursOnce, whereabouts } from "./unique.ts";

/** A word longer than this is no word (base64, a URL): it is cut at a grapheme. */
const LONGEST_WORD = 40;
/** Inside such a run, what must come again has this length. */
const UNBROKEN = 40;
/** Units of such a run that a model must be shown to go on from. */
const LEAST_SHOWN = 16;
/** How far a second nudge goes back to find a place whose text proves itself when it comes again, and at best begins a line. */
const LONGEST_ROLLBACK = 400;
const NEAR_LINE = 160;
/** Units of ink with which that text must begin as no other does. */
const BEGINNING = 16;

/** Before the unit that the cut may have halved: a word, a number, a run of signs, a list marker, a fence line, a grapheme. */
export function nearBoundary(sent: string): number | null {
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
 * Far enough back that the text beyond is no coincidence when it comes again: where it begins as no other text does, at the start of a
 * line or sentence if one is near, else of a word. So a model that takes no notice of the anchor and simply goes on still proves where
 * it went on from.
 */
export function farBoundary(sent: string): number | null {
  const limit = Math.max(0, sent.length - LONGEST_ROLLBACK);
  const around = whereabouts(sent);
  let word: number | null = null;
  let any: number | null = null;
  for (let at = inkEnd(sent) - 1; at > limit; at--) {
    if (!startsWord(sent, at) || !proves(sent.slice(at), false)) continue;
    const cut = inkEnd(sent.slice(0, at));
    if (cut === 0 || (word !== null && word - cut > NEAR_LINE)) break;
    any ??= cut;
    if (!occursOnce(around, inkOf(sent.slice(at)).text.slice(0, BEGINNING))) continue;
    word ??= cut;
    const before = standsAt(sent, at);
    if (before === "line" || (before === "clause" && /[.!?。！？]/.test(sent.charAt(cut - 1)))) return cut;
  }
  return word ?? any ?? (sent.length > UNBROKEN + LEAST_SHOWN ? insideRun(sent, sent.length) : null);
}

/** A place inside a run of ink without words, where neither words nor blanks are near. */
export function insideRun(sent: string, end: number): number {
  return lastGrapheme(sent.slice(0, Math.max(1, end - UNBROKEN)));
}
