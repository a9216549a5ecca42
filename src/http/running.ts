import type { Failure } from "../core/error.ts";

/** Requests under way, so that what is left of them can be ended honestly when the process stops. */
export class Running {
  readonly #ends = new Set<(why: Failure) => void>();

  get size(): number {
    return this.#ends.size;
  }

  /** @returns what takes it off again */
  add(end: (why: Failure) => void): () => void {
    this.#ends.add(end);
    return () => void this.#ends.delete(end);
  }

  /** Tells every one of them to end now, and why. */
  end(why: Failure): void {
    for (const end of [...this.#ends]) end(why);
  }
}
