const EMPTY = Buffer.alloc(0);
/** Bytes: what is made room for at the second read. */
const LEAST = 1024;
/** Bytes: so much is made room for at once, if that is how many there will be. Whoever promises more must send it first. */
const PROMISED = 1_048_576;

/**
 * Bytes in the making. Reads may be of any size: a body that comes byte by byte costs what its bytes cost, not a buffer for each.
 * A body of one read is not copied.
 */
export class Bytes {
  size = 0;
  #kept: Buffer = EMPTY;
  readonly #expected: number;

  /** @param expected how many there will be, where that is known: room beyond it is not made unless it is needed */
  constructor(expected = Number.POSITIVE_INFINITY) {
    this.#expected = expected;
  }

  add(bytes: Buffer): void {
    const size = this.size + bytes.length;
    if (this.size === 0) this.#kept = bytes;
    else {
      if (size > this.#kept.length) this.#grow(size);
      bytes.copy(this.#kept, this.size);
    }
    this.size = size;
  }

  /** From one of them to another, or to the last; as they stand, not copied. */
  view(from: number, to: number = this.size): Buffer {
    return this.#kept.subarray(from, to);
  }

  /** All of them; from here on they are the caller's, and there are none. */
  take(): Buffer {
    const all = this.view(0);
    this.#kept = EMPTY;
    this.size = 0;
    return all;
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafe(this.#room(size));
    this.#kept.copy(larger, 0, 0, this.size);
    this.#kept = larger;
  }

  #room(size: number): number {
    const twice = Math.max(LEAST, 2 * size);
    if (this.#expected <= PROMISED && this.#expected >= size) return this.#expected;
    return this.#expected >= size ? Math.min(twice, this.#expected) : twice;
  }
}
