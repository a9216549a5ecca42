import type { Failure } from "../core/error.ts";
import { Seats } from "../core/seats.ts";

/** Requests under way, so that what is left of them can be ended honestly when the process stops. */
export class Running {
  readonly #ends = new Seats<(why: Failure) => void>();

  get size(): number {
    return this.#ends.size;
  }

  /** @returns what takes it off again; to be called once */
  add(end: (why: Failure) => void): () => void {
    return this.#ends.take(end);
  }

  /** Tells every one of them to end now, and why. */
  end(why: Failure): void {
    for (const end of this.#ends.all()) end(why);
  }
}
