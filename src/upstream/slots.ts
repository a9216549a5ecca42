/**
 * Places at one upstream. A request keeps its place over all its passes, so that a continuation never queues behind new work; further
 * requests wait in line, the first come first, up to `maxQueued`.
 */
export class Slots {
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * A place, at once or when one is free; `leave` gives it back, or ends the waiting for it (then `entered` never settles).
   * null: all places are taken and the queue is full.
   * @param maxInflight 0: no limit
   */
  enter(
    maxInflight: number,
    maxQueued: number,
  ): { readonly entered: Promise<void> | null; readonly leave: () => void } | null {
    if (maxInflight === 0 || this.#taken < maxInflight) {
      this.#taken++;
      return { entered: null, leave: this.#leaver() };
    }
    if (this.#waiting.length >= maxQueued) return null;
    let enter: () => void = () => undefined;
    const entered = new Promise<void>((resolve) => {
      enter = resolve;
    });
    this.#waiting.push(enter);
    const give = this.#leaver();
    return {
      entered,
      leave: () => {
        const at = this.#waiting.indexOf(enter);
        if (at === -1) give();
        else this.#waiting.splice(at, 1);
      },
    };
  }

  /** Gives a place back once: to the next in line, if any. */
  #leaver(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken--;
      else next();
    };
  }
}
