/**
 * What ends a request from outside: its client has left, or lastword stops. An `AbortController` in all but price: nearly every request
 * ends by itself, and making a signal and listening to it would cost as much as reading the request.
 */
export class Over {
  #why: unknown = undefined;
  #ended = false;
  #listeners: (() => void)[] = [];
  #controller: AbortController | null = null;

  get ended(): boolean {
    return this.#ended;
  }

  /** The first reason given; undefined while it is not over. */
  get why(): unknown {
    return this.#why;
  }

  /** The same for those who want a signal; made for the first of them. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#ended) this.#controller.abort(this.#why);
    }
    return this.#controller.signal;
  }

  end(why: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#why = why;
    for (const listener of this.#listeners.splice(0)) listener();
    this.#controller?.abort(why);
  }

  /** Calls `listener` when it is over; at once where it is. @returns what takes it back */
  onEnd(listener: () => void): () => void {
    if (this.#ended) listener();
    else this.#listeners.push(listener);
    return () => {
      const at = this.#listeners.indexOf(listener);
      if (at !== -1) this.#listeners.splice(at, 1);
    };
  }

  /** Settles as `work` does, or rejects with the reason as soon as it is over. */
  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#why);
        // Nobody hears of it any more, and nobody need.
        work.catch(() => undefined);
        return;
      }
      const forget = this.onEnd(() => reject(this.#why));
      work.then(
        (value) => {
          forget();
          resolve(value);
        },
        (error: unknown) => {
          forget();
          reject(error);
        },
      );
    });
  }
}
