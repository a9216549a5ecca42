import { inkEnd, inkStart } from "../../src/stitch/characters.ts";

/** A join that others ship, as a function of the text so far and of what the next pass brought. */
export interface Naive {
  readonly name: string;
  /** What is sent upstream of the text so far, and shown to the client of it. */
  readonly keep: (text: string) => string;
  readonly join: (kept: string, pass: string) => string;
}

const same = (text: string) => text;

export const NAIVE: readonly Naive[] = [
  { name: "right-trim, concatenate", keep: (text) => text.slice(0, inkEnd(text)), join: (kept, pass) => kept + pass },
  {
    name: "insert a space",
    keep: same,
    join: (kept, pass) => (/\s$/.test(kept) || /^\s/.test(pass) || pass === "" ? kept + pass : `${kept} ${pass}`),
  },
  { name: "longest overlap, from 1", keep: same, join: (kept, pass) => kept + pass.slice(overlap(kept, pass)) },
  {
    name: "cut at last whitespace",
    keep: (text) => /^[\s\S]*\s/.exec(text)?.[0] ?? "",
    join: (kept, pass) => kept + pass.slice(inkStart(pass)),
  },
];

/** The longest end of the first that the second begins with, up to 512 units. */
function overlap(first: string, second: string): number {
  for (let length = Math.min(512, first.length, second.length); length > 0; length--)
    if (first.endsWith(second.slice(0, length))) return length;
  return 0;
}
