/** Characters as a seam sees them. Positions and lengths are UTF-16 units throughout, unless a name says code points. */

/** What an upstream puts where a cap fell inside a character. */
const REPLACEMENT = 0xfffd;
/** Units that are looked at to find the last grapheme: longer than any emoji sequence in use. */
const GRAPHEME_WINDOW = 256;
/** An unfinished word is kept back up to this length. */
const LONGEST_WORD = 200;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}ー々〆]/u;
const WORD = /[\p{L}\p{N}\p{M}_]/u;
/** Marks and joiners that belong to the character before them. */
const ATTACHED = /[\p{M}\u200c\u200d]/u;

/** Leaves no ink: exactly what `\s` matches, so that no-break spaces count and joiners and zero-width spaces do not. */
export function isBlank(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0xa0) return false;
  return (
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}

/** Where the ink of a text ends: everything from there on is blank. */
export function inkEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end--;
  return end;
}

/** Where the ink of a text begins, from a position on; its length where there is none. */
export function inkStart(text: string, from = 0): number {
  let start = from;
  while (start < text.length && isBlank(text.charCodeAt(start))) start++;
  return start;
}

/** Of a script that puts no spaces between words. */
export function isUnspaced(character: string): boolean {
  return UNSPACED.test(character);
}

/** A letter, digit or mark: what a word is made of, in any script. */
export function isWordy(character: string): boolean {
  return WORD.test(character);
}

/** The code point that ends before a position, "" at the start. */
export function characterBefore(text: string, end: number): string {
  if (end <= 0) return "";
  const low = text.charCodeAt(end - 1);
  const paired = low >= 0xdc00 && low <= 0xdfff && end > 1 && isHigh(text.charCodeAt(end - 2));
  return text.slice(paired ? end - 2 : end - 1, end);
}

/** The code point at a position, "" at the end. */
export function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** A word, a sign, or a character of an unspaced script begins here. */
export function startsWord(text: string, at: number): boolean {
  const here = characterAt(text, at);
  if (here === "" || isBlank(here.charCodeAt(0)) || ATTACHED.test(here)) return false;
  const unit = text.charCodeAt(at);
  if (unit >= 0xdc00 && unit <= 0xdfff && at > 0 && isHigh(text.charCodeAt(at - 1))) return false;
  const before = characterBefore(text, at);
  if (before === "" || isUnspaced(here)) return true;
  // A run of one sign (a fence, a rule, "@@") is one.
  if (!isWordy(here)) return before !== here;
  return !isWordy(before) || isUnspaced(before);
}

/**
 * How much of a cut text is solid. Beyond it lie U+FFFD, which stand for the half of a character that the cap left, and half surrogate
 * pairs: neither is shown to the client nor sent back; the model writes the character again. U+FFFD elsewhere is content.
 */
export function solidEnd(text: string): number {
  let end = text.length;
  while (end > 0) {
    const unit = text.charCodeAt(end - 1);
    if (unit !== REPLACEMENT && !isHigh(unit)) break;
    end--;
  }
  return end;
}

/** Where the last grapheme begins: emoji sequences, flags and letters with their marks are never taken apart. */
export function lastGrapheme(text: string): number {
  if (endsInAscii(text)) return text.length - 1;
  let from = Math.max(0, text.length - GRAPHEME_WINDOW);
  // A window may begin inside a grapheme; after its first blank it is aligned again.
  if (from > 0) {
    let blank = from;
    while (blank < text.length - 1 && !isBlank(text.charCodeAt(blank))) blank++;
    if (blank < text.length - 1) from = blank + 1;
  }
  let last = text.length;
  for (const { index } of graphemes.segment(text.slice(from))) last = from + index;
  return last;
}

/** Two characters of ASCII are two graphemes, but for CR LF: to ask the segmenter would cost a thousand times as much. */
function endsInAscii(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  const before = text.charCodeAt(text.length - 2);
  return last < 0x80 && before < 0x80 && !(last === 0x0a && before === 0x0d);
}

/**
 * With `holdBack: word`: how many units at the end of the text so far are kept back because their word may go on. For scripts without
 * spaces, and for runs beyond 200 units (base64, URLs), that is the last grapheme.
 */
export function wordHold(text: string): number {
  const length = text.length;
  let start = length;
  while (start > 0 && length - start <= LONGEST_WORD) {
    const before = characterBefore(text, start);
    if (isBlank(before.charCodeAt(0)) || isUnspaced(before)) break;
    start -= before.length;
  }
  if (start === length && (length === 0 || isBlank(text.charCodeAt(length - 1)))) return 0;
  const grapheme = lastGrapheme(text);
  return length - (start === length || length - start > LONGEST_WORD ? grapheme : Math.min(start, grapheme));
}

/**
 * How much is left of a text that is cut so as to have at most so many units: whole words and signs, or of a run without end whole
 * graphemes, and no blanks behind them.
 */
export function cutAt(text: string, most: number): number {
  if (most >= text.length) return text.length;
  let end = most;
  while (end > 0 && most - end < LONGEST_WORD && !isBlank(text.charCodeAt(end)) && !startsWord(text, end)) end--;
  if (most - end === LONGEST_WORD) end = most;
  // Where the next character belongs to the grapheme before it, that begins earlier.
  return inkEnd(text.slice(0, lastGrapheme(text.slice(0, end + characterAt(text, end).length))));
}

/** Code points that leave ink: what a pass has really added. Whitespace alone is no progress. */
export function newCodePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (!isBlank(unit) && (unit < 0xdc00 || unit > 0xdfff)) count++;
  }
  return count;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
