/** Prompts remembered: half a megabyte. */
const REMEMBERED = 4096;

/**
 * Prompts whose cost an upstream has told, by the identity of their content. A prompt that begins with such a one costs that much, and what
 * is new in it; so in a long conversation only the last turn is estimated. Bounded; the least recently used is forgotten first.
 */
export class Anchors {
  readonly #tokens = new Map<number, number>();

  /** Tokens that the prompt of this identity cost, or null. */
  get(id: number): number | null {
    const tokens = this.#tokens.get(id);
    if (tokens === undefined) return null;
    this.#tokens.delete(id);
    this.#tokens.set(id, tokens);
    return tokens;
  }

  set(id: number, tokens: number): void {
    this.#tokens.delete(id);
    if (this.#tokens.size >= REMEMBERED) {
      const oldest = this.#tokens.keys().next();
      if (!oldest.done) this.#tokens.delete(oldest.value);
    }
    this.#tokens.set(id, tokens);
  }
}
