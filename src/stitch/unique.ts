import { inkOf } from "./ink.ts";

/** Units at the top and the end of a text within which a phrase is looked for elsewhere. Bounds the work. */
const TOP = 400;
const TAIL = 16_000;

/** The ink of a text in which phrases of its end are looked for. */
export function whereabouts(text: string): string {
  const parts = text.length <= TOP + TAIL ? [text] : [text.slice(0, TOP), text.slice(-TAIL)];
  return parts.map((part) => inkOf(part).text.toLowerCase()).join("\n");
}

export function occursOnce(around: string, phrase: string): boolean {
  const ink = inkOf(phrase).text.toLowerCase();
  const first = around.indexOf(ink);
  return first >= 0 && around.indexOf(ink, first + 1) < 0;
}
