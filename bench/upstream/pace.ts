/** Calls many things at their times from one timer: hundreds of timers of their own would cost more than the writes they pace. */
export class Pace {
  #due: { at: number; everyMs: number; step: () => boolean }[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** Calls `step` every so many milliseconds until it returns false. */
  add(everyMs: number, step: () => boolean): void {
    this.#due.push({ at: performance.now() + everyMs, everyMs, step });
    this.#timer ??= setInterval(() => this.#tick(), 1);
  }

  #tick(): void {
    const now = performance.now();
    let ended = false;
    for (const one of this.#due) {
      if (one.at > now) continue;
      one.at += one.everyMs;
      if (!one.step()) {
        one.at = Number.POSITIVE_INFINITY;
        ended = true;
      }
    }
    if (!ended) return;
    this.#due = this.#due.filter(({ at }) => at !== Number.POSITIVE_INFINITY);
    if (this.#due.length > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
