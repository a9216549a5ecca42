import { randomBytes } from "node:crypto";
import type { Permits } from "../recovery/place.ts";
import { AWAY, nameFor, type Store } from "./redis.ts";
import { ENTER, LEAVE, RENEW } from "./scripts.ts";
import { sleep } from "./sleep.ts";

/** A place whose replica has not been heard of for this long is free again. */
const PLACE_MS = 15_000;
const RENEW_MS = 5_000;
/** How often a free place is looked for, beside whenever one is given back. */
const LOOK_MS = 500;

/**
 * Places at upstreams, counted over all replicas. Each keeps its own line; which replica's turn it is, is left to chance.
 * Where Redis is away the replica's own limit is all that holds.
 */
export class SharedPermits implements Permits {
  readonly #store: Store;
  readonly #held = new Map<string, Set<string>>();
  readonly #renewal: NodeJS.Timeout;
  readonly #replica = randomBytes(9).toString("base64url");
  #members = 0;

  constructor(store: Store) {
    this.#store = store;
    this.#renewal = setInterval(() => this.#renew(), RENEW_MS);
    this.#renewal.unref();
  }

  async enter(url: string, most: number, signal: AbortSignal): Promise<() => void> {
    const places = nameFor("places", url);
    const member = `${this.#replica}:${++this.#members}`;
    const once = await this.#try(places, most, member, signal);
    if (once !== null) return once;
    let wake: () => void = () => undefined;
    let news = true;
    const unsubscribe = this.#store.subscribe(places, () => {
      news = true;
      wake();
    });
    signal.addEventListener("abort", () => wake());
    try {
      while (!signal.aborted) {
        if (!news) await sleep(LOOK_MS * (0.5 + Math.random()), (wakes) => (wake = wakes));
        news = false;
        const place = await this.#try(places, most, member, signal);
        if (place !== null) return place;
      }
      return () => undefined;
    } finally {
      unsubscribe();
    }
  }

  /** Places that are still held are given back by running out. */
  close(): void {
    clearInterval(this.#renewal);
  }

  /** null: all are taken. */
  async #try(places: string, most: number, member: string, signal: AbortSignal): Promise<(() => void) | null> {
    const answer = await this.#store.run("request", ENTER, [places], [most, member, PLACE_MS]);
    if (answer === AWAY) return () => undefined;
    return answer === 1 ? this.#hold(places, member, signal) : null;
  }

  #hold(places: string, member: string, signal: AbortSignal): () => void {
    const held = this.#held.get(places) ?? new Set();
    this.#held.set(places, held.add(member));
    const leave = () => {
      if (held.delete(member)) void this.#store.run("nobody", LEAVE, [places], [member]);
    };
    // Nobody waits for it any more.
    if (signal.aborted) leave();
    return leave;
  }

  #renew(): void {
    for (const [places, members] of this.#held) {
      if (members.size === 0) this.#held.delete(places);
      else void this.#store.run("nobody", RENEW, [places], [PLACE_MS, ...members]);
    }
  }
}
