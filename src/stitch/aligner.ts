import type { Ink } from "./ink.ts";

/** The text so far from `from` on has come again: it is what the head of the pass begins with, spacing aside. */
export interface Match {
  /** Position in the text so far at which the model went on. */
  readonly from: number;
  /** Where the repeated text begins and ends in the head of the pass. Its end lies right after its last ink. */
  readonly start: number;
  readonly end: number;
}

/** Ink at the end of the text so far in which a pass may have gone on, besides the very top. Bounds the work of a seam. */
const WINDOW = 4_000;

/**
 * Every place of the text so far from which a pass may have gone on, tested at once: a place stays live while the pass writes what
 * stands there, and is done when it has written all of it, up to the end. Fed unit by unit; bounded by window x window steps.
 */
export class Aligner {
  readonly done: Match[] = [];
  readonly #ink: Ink;
  #live: readonly number[];
  #count = 0;
  #start = 0;
  readonly #reached = new Map<number, number>();

  /** @param starts indexes into the ink, ascending, below its length */
  constructor(ink: Ink, starts: readonly number[]) {
    this.#ink = ink;
    this.#live = starts;
  }

  /** Some place is neither refuted nor done. True before the first ink. */
  get live(): boolean {
    return this.#live.length > 0;
  }

  /** How much ink from a place on (an index into the ink) has come again, whether it was refuted after that or not. */
  reachedFrom(place: number): number {
    return this.#reached.get(place) ?? 0;
  }

  /** @param at position of this unit, which is not blank, in the head */
  push(unit: number, at: number): void {
    const { text, at: positions } = this.#ink;
    const count = this.#count++;
    if (count === 0) this.#start = at;
    const live: number[] = [];
    for (const place of this.#live) {
      const expected = text.charCodeAt(place + count);
      // A message begins with a capital where the text it repeats may not.
      if (expected !== unit && !(count === 0 && sameLetter(expected, unit))) continue;
      this.#reached.set(place, count + 1);
      if (place + count + 1 < text.length) live.push(place);
      else this.done.push({ from: positions[place] ?? 0, start: this.#start, end: at + 1 });
    }
    this.#live = live;
  }
}

/** Indexes into the ink at which a pass may have gone on: the top, and the last 4,000 that `may` allows. Ascending. */
export function placesIn(ink: Ink, may: (position: number) => boolean): number[] {
  const places: number[] = ink.text.length > 0 ? [0] : [];
  for (let index = Math.max(1, ink.text.length - WINDOW); index < ink.text.length; index++)
    if (may(ink.at[index] ?? 0)) places.push(index);
  return places;
}

function sameLetter(a: number, b: number): boolean {
  return String.fromCharCode(a).toLowerCase() === String.fromCharCode(b).toLowerCase();
}
