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
/** So many readings left after so much ink: the text is one thing over and over, and no more of it will tell. Bounds the work too. */
const CROWD = 32;
const CROWDED_AFTER = 200;

/**
 * Every place of the text so far from which a pass may have gone on, tested at once: a place stays live while the pass writes what
 * stands there, and is done when it has written all of it, up to the end. Fed unit by unit.
 */
export class Aligner {
  /** In order of length, the shortest first. */
  readonly done: Match[] = [];
  readonly #ink: Ink;
  /** Indexes into the ink, ascending; the first `#liveCount` count. */
  readonly #live: Uint32Array;
  #liveCount: number;
  /** A place that is asked for with `reachedFrom`, besides the top. */
  readonly #watched: number;
  #watchedReached = 0;
  #topReached = 0;
  #count = 0;
  #start = 0;

  /**
   * @param places indexes into the ink, ascending, below its length
   * @param watched position in the text of a place whose progress matters, where there is one
   */
  constructor(ink: Ink, places: readonly number[], watched = -1) {
    this.#ink = ink;
    this.#live = Uint32Array.from(places);
    this.#liveCount = places.length;
    this.#watched = watched;
  }

  /** Some place is neither refuted nor done. True before the first ink. */
  get live(): boolean {
    return this.#liveCount > 0;
  }

  /** Too many places stand to hope for one. */
  get crowded(): boolean {
    return this.#liveCount + this.done.length > CROWD && (this.#count >= CROWDED_AFTER || this.#liveCount === 0);
  }

  /** How much ink from the top on has come again, whether it was refuted after that or not. */
  get reachedFromTop(): number {
    return this.#topReached;
  }

  /** The same from the watched place on. */
  get reachedFromWatched(): number {
    return this.#watchedReached;
  }

  /** @param at position of this unit, which is not blank, in the head */
  push(unit: number, at: number): void {
    const { text, at: positions } = this.#ink;
    const count = this.#count++;
    if (count === 0) this.#start = at;
    let kept = 0;
    for (let i = 0; i < this.#liveCount; i++) {
      const place = this.#live[i] ?? 0;
      const expected = text.charCodeAt(place + count);
      // A message begins with a capital where the text it repeats may not.
      if (expected !== unit && !(count === 0 && sameLetter(expected, unit))) continue;
      const from = positions[place] ?? 0;
      if (place === 0) this.#topReached = count + 1;
      if (from === this.#watched) this.#watchedReached = count + 1;
      if (place + count + 1 < text.length) this.#live[kept++] = place;
      else this.done.push({ from, start: this.#start, end: at + 1 });
    }
    this.#liveCount = kept;
  }
}

/** Indexes into the ink at which a pass may have gone on: the top, and those of the last 4,000 that `may` allows. Ascending. */
export function placesIn(ink: Ink, may: (position: number) => boolean): number[] {
  const places: number[] = ink.text.length > 0 ? [0] : [];
  for (let index = Math.max(1, ink.text.length - WINDOW); index < ink.text.length; index++)
    if (may(ink.at[index] ?? 0)) places.push(index);
  return places;
}

function sameLetter(a: number, b: number): boolean {
  return String.fromCharCode(a).toLowerCase() === String.fromCharCode(b).toLowerCase();
}
