/** A seeded source of choices (mulberry32): the same seed gives the same cases everywhere. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(from: readonly T[]): T {
    const found = from[Math.floor(this.next() * from.length)];
    if (found === undefined) throw new RangeError("nothing to pick from");
    return found;
  }

  /** A text in pieces of 1 to `longest` units, cut anywhere. */
  split(text: string, longest: number): string[] {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const end = at + this.between(1, longest);
      pieces.push(text.slice(at, end));
      at = end;
    }
    return pieces;
  }
}
