import { bordersOf } from "./borders.ts";

/** Every unit of a reply costs a step for each: with more than these it is not healed. Servers take a handful. */
export const MOST_STOPS = 256;

/**
 * Finds the client's stop strings in text that several passes wrote. An upstream sees one pass only: "EN" at the end of one and "D" at
 * the start of the next is a stop that nobody but us can see. Fed with released text, never with a prompt, an anchor or what was dropped.
 * One step per unit and stop string (Knuth, Morris, Pratt), whatever the text.
 */
export class StopScan {
  readonly #stops: readonly { readonly text: string; readonly fallback: Uint32Array }[];
  /** For each stop, how many of its units the text ends with. */
  #matched: number[];
  /** Text that may be the beginning of a stop. */
  #held = "";

  /** @param sent what the client was given so far: a stop may have begun in it, but ends only in what is pushed */
  constructor(stops: readonly string[], sent: string) {
    this.#stops = stops.filter((stop) => stop !== "").map((text) => ({ text, fallback: bordersOf(text) }));
    this.#matched = this.#stops.map(() => 0);
    const longest = Math.max(0, ...this.#stops.map((stop) => stop.text.length));
    const tail = sent.slice(Math.max(0, sent.length - longest));
    for (let i = 0; i < tail.length; i++) this.#step(tail.charCodeAt(i));
  }

  /** What may be given to the client now. `stopped`: a stop string is complete; nothing after its beginning is ever given. */
  push(text: string): { readonly emit: string; readonly stopped: boolean } {
    const all = this.#held + text;
    for (let i = this.#held.length; i < all.length; i++) {
      const stop = this.#step(all.charCodeAt(i));
      if (stop === 0) continue;
      this.#held = "";
      return { emit: all.slice(0, Math.max(0, i + 1 - stop)), stopped: true };
    }
    const keep = Math.min(all.length, Math.max(0, ...this.#matched));
    this.#held = all.slice(all.length - keep);
    return { emit: all.slice(0, all.length - keep), stopped: false };
  }

  /** The pass ended: what was held was no stop, or not yet. A next pass may still complete it. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /** Length of the longest stop that this unit completes, or 0. */
  #step(unit: number): number {
    let completed = 0;
    for (const [index, { text, fallback }] of this.#stops.entries()) {
      let matched = this.#matched[index] ?? 0;
      while (matched > 0 && text.charCodeAt(matched) !== unit) matched = fallback[matched - 1] ?? 0;
      if (text.charCodeAt(matched) === unit) matched++;
      if (matched === text.length) {
        completed = Math.max(completed, matched);
        matched = fallback[matched - 1] ?? 0;
      }
      this.#matched[index] = matched;
    }
    return completed;
  }
}
