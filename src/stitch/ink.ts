import { bordersOf } from "./borders.ts";
import { inkEnd, isBlank, isUnspaced, isWordy, startsWord } from "./characters.ts";

/** A text without its blanks, and where each remaining unit stood: two texts with equal ink differ in spacing only. */
export interface Ink {
  readonly text: string;
  /** For each unit of ink, its position in the spaced text. */
  readonly at: Uint32Array;
}

export function inkOf(spaced: string): Ink {
  const text = spaced.replace(/\s+/g, "");
  const at = new Uint32Array(text.length);
  let count = 0;
  for (let i = 0; i < spaced.length; i++) if (!isBlank(spaced.charCodeAt(i))) at[count++] = i;
  return { text, at };
}

/** Code points, words, and characters of unspaced scripts in a text: what an overlap of it can prove. */
interface Weight {
  /** Code points, each run of blanks counted as one. */
  readonly points: number;
  readonly words: number;
  readonly unspaced: number;
}

const ENOUGH_POINTS = 16;
const ENOUGH_WORDS = 2;
const ENOUGH_UNSPACED = 8;
const ENOUGH_UNBROKEN = 32;
const ENOUGH_OF_LINE = 8;
/** Weighing stops here: more proves no more. */
const MOST_WEIGHED = 512;

/**
 * An overlap of this text is no coincidence: 16 code points in 2 words, 32 in one (base64), 8 characters of a script without spaces, or 8
 * code points from the start of a line. Code points, because 2 characters say as much in Chinese as 6 bytes.
 */
export function proves(text: string, startsLine: boolean): boolean {
  if (repeatsItself(text)) return false;
  const { points, words, unspaced } = weigh(text);
  if (unspaced >= ENOUGH_UNSPACED) return true;
  if (startsLine && points >= ENOUGH_OF_LINE) return true;
  return points >= (words >= ENOUGH_WORDS ? ENOUGH_POINTS : ENOUGH_UNBROKEN);
}

function weigh(whole: string): Weight {
  const text = whole.slice(0, Math.min(inkEnd(whole), MOST_WEIGHED));
  let points = 0;
  let words = 0;
  let unspaced = 0;
  let wasBlank = true;
  for (let i = 0; i < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(i) ?? 0);
    const blank = isBlank(character.charCodeAt(0));
    if (!blank || !wasBlank) points++;
    if (isUnspaced(character)) unspaced++;
    else if (isWordy(character) && startsWord(text, i)) words++;
    wasBlank = blank;
    i += character.length;
  }
  return { points, words, unspaced };
}

const CLAUSE_END = /[.,;:!?…。、，；：！？।؟،؛\])}"'»”’|]/u;

/** A unit that stands in the text twice or more and fills it: "aaaa", equal rows. Where such text goes on, nobody can tell. */
export function repeatsItself(text: string): boolean {
  const ink = inkOf(text.slice(0, 2 * MOST_WEIGHED)).text.slice(0, MOST_WEIGHED);
  const borders = bordersOf(ink);
  return 2 * (ink.length - (borders.at(-1) ?? 0)) <= ink.length;
}

/** Units of ink, or lines with ink. */
const LONG_RESTART = 96;
const LONG_RESTART_LINES = 3;

/** So much text that none which rightly repeats would begin it anew, whole, just where it was cut. */
export function provesRestart(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length >= LONG_RESTART_LINES || inkOf(text).text.length >= LONG_RESTART;
}

/** Indentation, quote and list markers, heading signs, fences: what may stand in front of a line's own text. */
const LINE_OPENING = /^[\s>|#*+\-`~]*(?:\d{1,9}[.)]\s+)?[\s>|#*+\-`~]*$/;

/** Units before a position that are looked at. */
const BEFORE = 200;

/**
 * Where in its line a position stands: at the start (after indentation, a list marker and the like), after the end of
 * a clause, or in the middle of one. Text that rightly repeats begins at one of the first two; a fragment does not.
 */
export function standsAt(text: string, at: number): "line" | "clause" | "middle" {
  const from = Math.max(0, at - BEFORE);
  const before = text.slice(from, at);
  const line = before.slice(Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1);
  const wholeLine = line.length < before.length || from === 0;
  if (wholeLine && LINE_OPENING.test(line)) return "line";
  const end = inkEnd(before);
  return end === 0 || CLAUSE_END.test(before.charAt(end - 1)) ? "clause" : "middle";
}
