/** What the split rules of the GPT vocabularies ask of a character, as bits. */
export const UPPER = 1; // Lu Lt Lm Lo M: may stand in the first half of a word
export const LOWER = 2; // Ll Lm Lo M: may stand in the second half
export const LETTER = 4; // L
export const NUMBER = 8; // N
export const SPACE = 16; // White_Space
export const NEWLINE = 32; // CR, LF

/**
 * Kinds of text that vocabularies treat differently: one model spends three times as many tokens on Devanagari as another, and the same on English.
 * The index of a name is the class; the order is part of saved calibrations.
 */
export const CLASSES = [
  "latin", // ASCII letters
  "digit",
  "space",
  "mark", // ASCII punctuation and symbols
  "accented", // Latin beyond ASCII
  "greek",
  "cyrillic",
  "hebrew",
  "arabic",
  "devanagari",
  "indic", // the other scripts of India
  "thai",
  "han",
  "kana",
  "hangul",
  "typographic", // dashes, quotes and bullets of edited text
  "symbol", // emoji, box drawing, mathematics, private use
  "other", // any other letters
] as const;
export type TextClass = (typeof CLASSES)[number];

/** A character's class stands above its bits. */
export const CLASS_SHIFT = 6;

const classOf = Object.fromEntries(CLASSES.map((name, index) => [name, index])) as Record<TextClass, number>;

/** Last code point of a block, and the class of what stands up to there. From the Unicode block list. */
const BLOCKS: readonly (readonly [last: number, name: TextClass])[] = [
  [0x02af, "accented"],
  [0x036f, "other"],
  [0x03ff, "greek"],
  [0x052f, "cyrillic"],
  [0x058f, "other"],
  [0x05ff, "hebrew"],
  [0x07bf, "arabic"],
  [0x085f, "other"],
  [0x08ff, "arabic"],
  [0x097f, "devanagari"],
  [0x0dff, "indic"],
  [0x0e7f, "thai"],
  [0x10ff, "other"],
  [0x11ff, "hangul"],
  [0x1c7f, "other"],
  [0x1c8f, "cyrillic"],
  [0x1dff, "other"],
  [0x1eff, "accented"],
  [0x1fff, "greek"],
  [0x206f, "typographic"],
  [0x2bff, "symbol"],
  [0x2ddf, "other"],
  [0x2dff, "cyrillic"],
  [0x2e7f, "typographic"],
  [0x303f, "han"],
  [0x30ff, "kana"],
  [0x318f, "hangul"],
  [0x9fff, "han"],
  [0xa63f, "other"],
  [0xa69f, "cyrillic"],
  [0xa71f, "other"],
  [0xa7ff, "accented"],
  [0xa8df, "other"],
  [0xa8ff, "devanagari"],
  [0xabff, "other"],
  [0xd7ff, "hangul"],
  [0xf8ff, "symbol"],
  [0xfaff, "han"],
  [0xfb1c, "other"],
  [0xfb4f, "hebrew"],
  [0xfdff, "arabic"],
  [0xfe6f, "symbol"],
  [0xfeff, "arabic"],
  [0xff64, "han"],
  [0xff9f, "kana"],
  [0xffff, "symbol"],
  [0x1efff, "other"],
  [0x1ffff, "symbol"],
  [0x3ffff, "han"],
  [0x10ffff, "symbol"],
];

const PAGE = 256;
const pages: (Uint16Array | undefined)[] = [];

/** Bits and class of a code point. Pages of 256 are looked up in Unicode's tables on first use: at most 0.2 ms each. */
export function kindOf(codePoint: number): number {
  const page = pages[codePoint >> 8] ?? readPage(codePoint >> 8);
  return page[codePoint & 0xff] as number;
}

function readPage(index: number): Uint16Array {
  const page = new Uint16Array(PAGE);
  for (let i = 0; i < PAGE; i++) page[i] = readKind(index * PAGE + i);
  pages[index] = page;
  return page;
}

function readKind(codePoint: number): number {
  // A lone surrogate is written as U+FFFD, which is a symbol as well.
  const character = String.fromCodePoint(codePoint);
  let bits = 0;
  if (/[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]/u.test(character)) bits |= UPPER;
  if (/[\p{Ll}\p{Lm}\p{Lo}\p{M}]/u.test(character)) bits |= LOWER;
  if (/\p{L}/u.test(character)) bits |= LETTER;
  if (/\p{N}/u.test(character)) bits |= NUMBER;
  if (/\p{White_Space}/u.test(character)) bits |= SPACE;
  if (codePoint === 0x0a || codePoint === 0x0d) bits |= NEWLINE;
  return bits | (readClass(codePoint, bits) << CLASS_SHIFT);
}

function readClass(codePoint: number, bits: number): number {
  if (bits & SPACE) return classOf.space;
  if (bits & NUMBER) return classOf.digit;
  if (codePoint < 0x80) return bits & LETTER ? classOf.latin : classOf.mark;
  if (codePoint < 0xc0 && !(bits & LETTER)) return classOf.typographic;
  const block = BLOCKS.find(([last]) => codePoint <= last);
  return classOf[block?.[1] ?? "other"];
}
