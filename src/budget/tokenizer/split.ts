import { LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER } from "./characters.ts";

/**
 * Where the piece of text that starts at `at` ends, by the split rule of a vocabulary. `kinds` holds for every byte the kind of the
 * character that it belongs to, so that a run of letters is a run of bytes and nothing is decoded again.
 */
export type Split = (bytes: Uint8Array, kinds: Uint16Array, at: number, length: number) => number;

const APOSTROPHE = 0x27;
const BLANK = 0x20;
const SLASH = 0x2f;

/**
 * The rule of `o200k_base`, as published with the vocabulary (alternatives in order, each as the expression would backtrack):
 * `[^\r\n\p{L}\p{N}]?U*L+'s?` | `[^\r\n\p{L}\p{N}]?U+L*'s?` | `\p{N}{1,3}` | ` ?[^\s\p{L}\p{N}]+[\r\n/]*` | `\s*[\r\n]+` | `\s+(?!\S)` | `\s+`
 * with U = Lu Lt Lm Lo M and L = Ll Lm Lo M.
 */
export const splitO200k: Split = (bytes, kinds, at, length) => {
  const kind = kinds[at] as number;
  const inner = kind & (LETTER | NUMBER | NEWLINE) ? -1 : at + width(bytes[at] as number);
  let end = -1;
  if (inner >= 0 && inner < length) end = lowerWord(kinds, inner, length);
  if (end < 0) end = lowerWord(kinds, at, length);
  if (end < 0 && inner >= 0) end = upperWord(kinds, inner, length);
  if (end < 0) end = upperWord(kinds, at, length);
  if (end >= 0) return end + contraction(bytes, end, length);
  if (kind & NUMBER) return digits(bytes, kinds, at, length);
  return marks(bytes, kinds, at, length, SLASH) ?? blanks(bytes, kinds, at, length);
};

/**
 * The rule of `cl100k_base`:
 * `'s` | `[^\r\n\p{L}\p{N}]?\p{L}+` | `\p{N}{1,3}` | ` ?[^\s\p{L}\p{N}]+[\r\n]*` | `\s+$` | `\s*[\r\n]` | `\s+(?!\S)` | `\s`
 */
export const splitCl100k: Split = (bytes, kinds, at, length) => {
  const short = contraction(bytes, at, length);
  if (short > 0) return at + short;
  const kind = kinds[at] as number;
  const inner = kind & (LETTER | NUMBER | NEWLINE) ? at : at + width(bytes[at] as number);
  const end = run(kinds, inner, length, LETTER);
  if (end > inner) return end;
  if (kind & NUMBER) return digits(bytes, kinds, at, length);
  const marked = marks(bytes, kinds, at, length, -1);
  if (marked !== null) return marked;
  return run(kinds, at, length, SPACE) === length ? length : blanks(bytes, kinds, at, length);
};

/** `U*L+`, or -1. */
function lowerWord(kinds: Uint16Array, at: number, length: number): number {
  const upper = run(kinds, at, length, UPPER);
  const end = run(kinds, upper, length, LOWER);
  if (end > upper) return end;
  // The second half needs one character: give back up to the last that may stand there too.
  for (let i = upper - 1; i >= at; i--) if ((kinds[i] as number) & LOWER) return i + 1;
  return -1;
}

/** `U+L*` where `U*L+` has failed, or -1. */
function upperWord(kinds: Uint16Array, at: number, length: number): number {
  const upper = run(kinds, at, length, UPPER);
  return upper > at ? upper : -1;
}

/** Bytes of `'s`, `'d`, `'m`, `'t`, `'ll`, `'ve` or `'re` in any case, or 0. */
function contraction(bytes: Uint8Array, at: number, length: number): number {
  if (bytes[at] !== APOSTROPHE || at + 1 >= length) return 0;
  switch ((bytes[at + 1] as number) | 0x20) {
    case 0x73: // s
    case 0x64: // d
    case 0x6d: // m
    case 0x74: // t
      return 2;
    case 0x6c: // l
      return at + 2 < length && ((bytes[at + 2] as number) | 0x20) === 0x6c ? 3 : 0;
    case 0x76: // v
    case 0x72: // r
      return at + 2 < length && ((bytes[at + 2] as number) | 0x20) === 0x65 ? 3 : 0;
    default:
      return 0;
  }
}

/** `\p{N}{1,3}` */
function digits(bytes: Uint8Array, kinds: Uint16Array, at: number, length: number): number {
  let end = at;
  for (let n = 0; n < 3 && end < length && (kinds[end] as number) & NUMBER; n++) end += width(bytes[end] as number);
  return end;
}

/** ` ?[^\s\p{L}\p{N}]+[\r\n]*`, where `tail` may also follow; null where there is none. */
function marks(bytes: Uint8Array, kinds: Uint16Array, at: number, length: number, tail: number): number | null {
  const first = bytes[at] === BLANK ? at + 1 : at;
  let end = first;
  while (end < length && !((kinds[end] as number) & (SPACE | LETTER | NUMBER))) end++;
  if (end === first) return null;
  while (end < length && ((kinds[end] as number) & NEWLINE || bytes[end] === tail)) end++;
  return end;
}

/** `\s*[\r\n]+` | `\s+(?!\S)` | `\s+` */
function blanks(bytes: Uint8Array, kinds: Uint16Array, at: number, length: number): number {
  const end = run(kinds, at, length, SPACE);
  for (let i = end - 1; i >= at; i--) if ((kinds[i] as number) & NEWLINE) return i + 1;
  if (end === length) return end;
  // The last blank is left for the word that follows, unless it is the only one.
  let last = end - 1;
  while (((bytes[last] as number) & 0xc0) === 0x80) last--;
  return last > at ? last : end;
}

function run(kinds: Uint16Array, at: number, length: number, bits: number): number {
  let end = at;
  while (end < length && (kinds[end] as number) & bits) end++;
  return end;
}

/** Bytes of the character that starts with this byte. */
function width(lead: number): number {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}
