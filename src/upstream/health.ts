/** Answers that failed in a row, after which a server is left alone for a while. A connection that cannot be made counts for all of them. */
const FAILURES = 2;
const FIRST_REST_MS = 5_000;
const LONGEST_REST_MS = 60_000;
/** How long others wait for what comes of one request that tries again. */
const TRIAL_MS = 5_000;

/** How a server fares, by what live traffic shows alone. Times are milliseconds of one clock. */
export class Health {
  #failures = 0;
  #restsUntil = 0;

  /** @param unreachable no connection could be made */
  failed(now: number, unreachable: boolean): void {
    this.#failures = unreachable ? Math.max(FAILURES, this.#failures + 1) : this.#failures + 1;
    if (this.#failures < FAILURES) return;
    this.#rest(now, Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (this.#failures - FAILURES)));
  }

  worked(): void {
    this.#failures = 0;
    this.#restsUntil = 0;
  }

  /** It asked for less, and said for how long. */
  limited(now: number, seconds: number): void {
    this.#rest(now, seconds * 1000);
  }

  isReady(now: number): boolean {
    return now >= this.#restsUntil;
  }

  /** A request goes there. Where it had failed, it is the one that finds out whether that is over. */
  tried(now: number): void {
    if (this.#failures >= FAILURES) this.#rest(now, TRIAL_MS);
  }

  #rest(now: number, ms: number): void {
    this.#restsUntil = Math.max(this.#restsUntil, now + ms);
  }
}
