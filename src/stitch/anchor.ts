import { farBoundary, insideRun, nearBoundary } from "./boundary.ts";
import { inkEnd, inkStart, startsWord } from "./characters.ts";
import { inkOf, proves, standsAt } from "./ink.ts";
import { occursOnce, whereabouts } from "./unique.ts";
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

/** An anchor is looked for in this much of the text's end. */
const LONGEST_ANCHOR = 240;

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

/**
 * The shortest run of last words that is no coincidence, occurs only once, begins inside a clause (where text that rightly repeats does
 * not begin), and does not begin as what follows it does, so that nothing but the anchor can look like the anchor.
 */
function anchorStart(sent: string, end: number): number {
  const limit = Math.max(0, end - LONGEST_ANCHOR);
  const around = whereabouts(sent);
  let inside: number | null = null;
  let other: number | null = null;
  let start: number | null = null;
  for (let at = end - 1; at >= limit; at--) {
    if (!startsWord(sent, at)) continue;
    start = at;
    const anchor = sent.slice(at, end);
    if (!proves(anchor, false) || bordered(sent, at, end)) continue;
    if (standsAt(sent, at) !== "middle") other ??= at;
    else if (occursOnce(around, anchor)) return at;
    else inside ??= at;
  }
  return inside ?? other ?? start ?? insideRun(sent, end);
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
