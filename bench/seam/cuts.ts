import type { Random } from "./random.ts";

/** Where a cap falls. Each finds its places in a text; the cut lies at the end of a match. */
const CUTS: readonly { readonly name: string; readonly before: RegExp }[] = [
  { name: "mid-word", before: /\p{L}{2}(?=\p{L})/gu },
  { name: "end of word", before: /\p{L}(?=[ ,.;])/gu },
  { name: "after space", before: / (?=\S)/g },
  { name: "end of sentence", before: /[.。!?](?=\s|$)/g },
  { name: "newline", before: /\n(?=.)/g },
  { name: "between newlines", before: /\n(?=\n)/g },
  { name: "blank line", before: /\n\n(?=.)/g },
  { name: "indentation", before: /\n[ \t](?=[ \t])/g },
  { name: "inside CRLF", before: /\r(?=\n)/g },
  { name: "fence line", before: /(?:```|~~~)[a-z]?(?=[a-z])/g },
  { name: "after fence line", before: /(?:```|~~~)[a-z]+(?=\n)/g },
  { name: "inside a fence", before: /\n``?(?=`)/g },
  { name: "row", before: /\| [^|\n]{1,3}(?=[^|\n])/g },
  { name: "list marker", before: /(?<=^|\n)\d+\.?(?=[. ])/g },
  { name: "tag", before: /<[a-z]+ ?[a-z]*(?=[a-z="])/g },
  { name: "inside a character", before: /[\ud800-\udbff](?=[\udc00-\udfff])|\u200d(?=.)|.(?=[\u0300-\u036f\ufe0f])/g },
  { name: "number", before: /\d(?=\d)/g },
];

/** Text of at least this many units comes before a cut: shorter replies end below any cap that is healed. */
const SHORTEST = 60;

export interface Cut {
  readonly name: string;
  readonly at: number;
}

/** A cut of this text by a class that has a place in it, or exactly at the end. */
export function cut(random: Random, text: string): Cut {
  if (random.chance(0.03)) return { name: "at the end", at: text.length };
  for (let tries = 0; tries < 8; tries++) {
    const { name, before } = random.pick(CUTS);
    const places = [...text.matchAll(before)]
      .map((found) => found.index + found[0].length)
      .filter((at) => at >= SHORTEST);
    if (places.length > 0) return { name, at: random.pick(places) };
  }
  return { name: "anywhere", at: random.between(Math.min(SHORTEST, text.length), text.length) };
}
