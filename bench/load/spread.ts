import type { Spread } from "./job.ts";

/** Many times, kept whole until they are asked for their spread. */
export class Times {
  #values = new Float64Array(1024);
  #count = 0;

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count++] = value;
  }

  spread(): Spread {
    const sorted = this.#values.slice(0, this.#count).sort();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { count: this.#count, p50: at(0.5), p99: at(0.99), max: at(1) };
  }
}
