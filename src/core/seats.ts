/**
 * Things that come and go. Each has a seat, which a later one takes. The tables of a `Set` are thrown away every few entries and, once
 * they are old, keep all that stood in them alive until the next full collection: measured, a third of all that requests allocate.
 */
export class Seats<T> {
  readonly #taken: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#taken.length - this.#free.length;
  }

  /** @returns what leaves the seat; to be called once */
  take(one: T): () => void {
    const seat = this.#free.pop() ?? this.#taken.length;
    this.#taken[seat] = one;
    return () => {
      this.#taken[seat] = undefined;
      this.#free.push(seat);
    };
  }

  /** Those who are there now. */
  all(): T[] {
    return this.#taken.filter((one) => one !== undefined);
  }
}
