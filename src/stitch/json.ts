import { parseJson } from "../core/json.ts";
import type { Shape } from "../core/proof.ts";
import { type Frame, JsonScanner } from "./scanner.ts";

/** Where a raw JSON text stands at its end. */
export type JsonState = Readonly<
  Pick<JsonScanner, "complete" | "empty" | "bare" | "broken" | "inString" | "inEscape" | "blanks" | "digits">
> & { readonly open: readonly Readonly<Frame>[] };

/** Reads a whole text at once; a stream pushes its pieces into a `JsonScanner`, which is a `JsonState` at every moment. */
export function jsonState(text: string): JsonState {
  return new JsonScanner().push(text);
}

/** What the text proves of itself. */
export function shapeOf(text: string): Shape {
  const state = jsonState(text);
  if (state.empty) return "empty";
  if (state.bare) return "bare";
  if (state.broken) return "broken";
  if (!state.complete) return "open";
  // Two readers must agree before a value counts as whole.
  return parseJson(text) === undefined ? "broken" : "closed";
}

/** The model closed the value itself, it parses as it stands, and nothing follows it. */
export function wholeJson(text: string): boolean {
  return shapeOf(text) === "closed";
}

/** A cut list up to its last whole element. */
export interface WholePart {
  /** Characters to keep: up to the end of that element, before any comma. */
  readonly end: number;
  /** Where in the value the list stands. */
  readonly path: readonly (string | number)[];
  /** Whole elements in the list. */
  readonly count: number;
}

/**
 * For a payload that is cut inside a list: the outermost open list that has a whole element, since its elements are what the payload
 * is made of. null: no open list has one, or the text is not cut JSON. Nothing is closed: what is kept is a true prefix.
 */
export function lastWholeElement(text: string): WholePart | null {
  const { open, broken } = jsonState(text);
  if (broken) return null;
  const at = open.findIndex((frame) => frame.opener === "[" && frame.count > 0);
  const list = open[at];
  if (list === undefined) return null;
  return { end: list.end, path: open.slice(0, at).map((frame) => memberOf(frame, text)), count: list.count };
}

/** The member of this container that is under way. */
function memberOf(frame: Frame, text: string): string | number {
  if (frame.opener === "[") return frame.count;
  return JSON.parse(text.slice(frame.keyStart, frame.keyEnd)) as string;
}

/** Characters of a continuation within which a restarted grammar shows itself. */
const HEAD = 256;
/** Characters, whitespace aside, that must be those of the reply's beginning where an object or list could rightly begin. */
const REPLAYED = 16;

/**
 * A grammar starts at its root on every request, so a continuation may begin the value anew: `{"a": "te` + `{"a": "text"}`.
 * True if `next` begins as the root does and cannot be a part of this text, or repeats its beginning where a value is due.
 *
 * @param text the reply so far, cut inside its JSON
 * @param next what the continuation has brought; the more, the surer
 */
export function restartsGrammar(text: string, next: string): boolean {
  const root = text.trimStart().charAt(0);
  if ((root !== "{" && root !== "[") || next.trimStart().charAt(0) !== root) return false;
  const scanner = new JsonScanner().push(text);
  if (scanner.broken || scanner.complete) return false;
  if (scanner.atValue) return replays(text, next);
  return scanner.push(next.slice(0, HEAD)).broken;
}

function replays(text: string, next: string): boolean {
  const [first, again] = [compact(text), compact(next)];
  const shared = Math.min(first.length, again.length);
  return shared >= REPLAYED && first.slice(0, shared) === again.slice(0, shared);
}

function compact(text: string): string {
  return text.slice(0, HEAD).replace(/\s+/g, "");
}
