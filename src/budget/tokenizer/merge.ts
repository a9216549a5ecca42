import type { Vocabulary } from "./vocabulary.ts";

/** Counts the tokens that byte-pair encoding makes of one piece of text, whole characters or not. */
export type CountPiece = (bytes: Uint8Array, from: number, to: number) => number;

/** Bytes up to which looking for the lowest pair anew after each merge beats keeping a heap. */
const SHORT = 64;
/** The rank of a pair that is no token. */
const NONE = 0x7fffffff;

/**
 * Exact byte-pair merging: the adjacent pair with the lowest rank is joined, the leftmost first, until no pair is a token.
 * Long pieces keep their pairs in a heap, so that 100,000 letters without a space cost n log n and not n squared.
 * Working memory is kept between calls, and calls do not nest.
 */
export function pieceCounter(vocabulary: Vocabulary): CountPiece {
  let text: Uint8Array = new Uint8Array(0);
  let base = 0;
  let length = 0;
  // By the place where a token starts: where the next and the one before it start, and its rank when joined with the next.
  let next = new Int32Array(1024);
  let previous = new Int32Array(1024);
  let joined = new Int32Array(1024);
  const heap = new PairHeap();

  return (bytes, from, to) => {
    if (to - from <= 1 || vocabulary.rank(bytes, from, to) >= 0) return to > from ? 1 : 0;
    text = bytes;
    base = from;
    length = to - from;
    if (length >= next.length) {
      next = new Int32Array(2 * length);
      previous = new Int32Array(2 * length);
      joined = new Int32Array(2 * length);
    }
    for (let i = 0; i < length; i++) {
      next[i] = i + 1;
      previous[i] = i - 1;
    }
    for (let i = 0; i < length; i++) joined[i] = rankAt(i);
    return length - (length <= SHORT ? mergeByScan() : mergeByHeap());
  };

  function rankAt(i: number): number {
    const second = next[i] as number;
    if (second >= length) return NONE;
    const rank = vocabulary.rank(text, base + i, base + (next[second] as number));
    return rank < 0 ? NONE : rank;
  }

  /** Joins the token at `i` with the one after it. */
  function merge(i: number): void {
    const second = next[i] as number;
    const third = next[second] as number;
    joined[second] = NONE;
    next[i] = third;
    if (third < length) previous[third] = i;
    joined[i] = rankAt(i);
    const left = previous[i] as number;
    if (left >= 0) joined[left] = rankAt(left);
  }

  /** @returns the number of merges */
  function mergeByScan(): number {
    for (let merges = 0; ; merges++) {
      let lowest = NONE;
      let at = 0;
      for (let i = 0; i < length; i = next[i] as number) {
        if ((joined[i] as number) < lowest) {
          lowest = joined[i] as number;
          at = i;
        }
      }
      if (lowest === NONE) return merges;
      merge(at);
    }
  }

  /** @returns the number of merges */
  function mergeByHeap(): number {
    heap.clear();
    for (let i = 0; i < length; i++) push(i);
    let merges = 0;
    while (heap.pop()) {
      // A pair that a neighbour's merge has changed since is still in the heap under its old rank.
      if (joined[heap.place] !== heap.rank) continue;
      const at = heap.place;
      merge(at);
      merges++;
      push(at);
      if ((previous[at] as number) >= 0) push(previous[at] as number);
    }
    return merges;
  }

  function push(i: number): void {
    if (joined[i] !== NONE) heap.push(joined[i] as number, i);
  }
}

/** Both numbers of a pair in one double: ranks are below 2^18, places below 2^32. */
const PLACES = 2 ** 32;

/** A binary heap of pairs: lowest rank first, then leftmost. */
class PairHeap {
  /** The pair that was popped last. */
  rank = 0;
  place = 0;
  #keys = new Float64Array(1024);
  #size = 0;

  clear(): void {
    this.#size = 0;
  }

  push(rank: number, place: number): void {
    if (this.#size === this.#keys.length) {
      const larger = new Float64Array(2 * this.#size);
      larger.set(this.#keys);
      this.#keys = larger;
    }
    const keys = this.#keys;
    const key = rank * PLACES + place;
    let i = this.#size++;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = keys[parent] as number;
      if (above <= key) break;
      keys[i] = above;
      i = parent;
    }
    keys[i] = key;
  }

  /** @returns false where the heap is empty */
  pop(): boolean {
    if (this.#size === 0) return false;
    const keys = this.#keys;
    const top = keys[0] as number;
    this.rank = Math.floor(top / PLACES);
    this.place = top - this.rank * PLACES;
    const size = --this.#size;
    const key = keys[size] as number;
    let i = 0;
    for (let child = 1; child < size; child = 2 * i + 1) {
      if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child++;
      if ((keys[child] as number) >= key) break;
      keys[i] = keys[child] as number;
      i = child;
    }
    keys[i] = key;
    return true;
  }
}
