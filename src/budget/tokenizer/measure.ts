import { CLASS_SHIFT, CLASSES, kindOf } from "./characters.ts";
import { pieceCounter } from "./merge.ts";
import type { Split } from "./split.ts";
import type { Vocabulary } from "./vocabulary.ts";

/**
 * What a text costs, by class: tokens in the first half, characters (code points) in the second, both in the order of `CLASSES`.
 * A token counts for the class of its piece's last character.
 */
export type Measure = Uint32Array;
export const MEASURE_LENGTH = 2 * CLASSES.length;

export type MeasureText = (text: string, into: Measure) => void;

/** Counts exactly like the reference encoder of `vocabulary` would, special tokens in the text being plain text. */
export function measurer(vocabulary: Vocabulary, split: Split): MeasureText {
  const encoder = new TextEncoder();
  const countPiece = pieceCounter(vocabulary);
  let bytes = new Uint8Array(1 << 16);
  let kinds = new Uint16Array(1 << 16);

  return (text, into) => {
    if (bytes.length < 3 * text.length) {
      bytes = new Uint8Array(3 * text.length);
      kinds = new Uint16Array(3 * text.length);
    }
    const length = encoder.encodeInto(text, bytes).written;
    classify(bytes, kinds, length, into);
    for (let at = 0; at < length; ) {
      const end = split(bytes, kinds, at, length);
      const of = (kinds[end - 1] as number) >> CLASS_SHIFT;
      into[of] = (into[of] as number) + countPiece(bytes, at, end);
      at = end;
    }
  };
}

const ASCII = Uint16Array.from({ length: 128 }, (_, codePoint) => kindOf(codePoint));

/** Writes the kind of every byte's character, and counts the characters. */
function classify(bytes: Uint8Array, kinds: Uint16Array, length: number, into: Measure): void {
  for (let at = 0; at < length; ) {
    const lead = bytes[at] as number;
    let kind: number;
    if (lead < 0x80) {
      kind = ASCII[lead] as number;
      kinds[at++] = kind;
    } else if (lead < 0xe0) {
      kind = kindOf(((lead & 0x1f) << 6) | tail(bytes, at + 1));
      kinds[at++] = kind;
      kinds[at++] = kind;
    } else if (lead < 0xf0) {
      kind = kindOf(((lead & 0x0f) << 12) | (tail(bytes, at + 1) << 6) | tail(bytes, at + 2));
      kinds[at++] = kind;
      kinds[at++] = kind;
      kinds[at++] = kind;
    } else {
      const high = ((lead & 0x07) << 18) | (tail(bytes, at + 1) << 12);
      kind = kindOf(high | (tail(bytes, at + 2) << 6) | tail(bytes, at + 3));
      kinds.fill(kind, at, at + 4);
      at += 4;
    }
    const of = CLASSES.length + (kind >> CLASS_SHIFT);
    into[of] = (into[of] as number) + 1;
  }
}

function tail(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) & 0x3f;
}
