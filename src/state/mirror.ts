import type { Recording } from "../http/recording.ts";
import type { RunEnd } from "../recovery/run.ts";
import type { Seal } from "./cipher.ts";
import { type Entry, encode } from "./entry.ts";
import { AWAY, type Store } from "./redis.ts";
import { APPEND, CLAIM, DROP, RELEASE } from "./scripts.ts";

/** The owner is heard of twice within the time after which it would be dead. */
const RENEWALS = 2.5;
/** How often what was written is carried over while another replica's client reads along. */
const FOLLOWED_MS = 20;
/** How long who reads along may take for the end of a recording that is not kept. */
const LAST_READ_MS = 60_000;

/** One client's key, as it is called in Redis. */
export interface Names {
  readonly claim: string;
  readonly lease: string;
  /** Of the request body. */
  readonly body: string;
}

/** One recording in Redis, and by whom it is written. */
export interface Place extends Names {
  readonly stream: string;
  /** Of this run in this replica. */
  readonly token: string;
  /** An owner that has not been heard of for this long is dead. */
  readonly leaseMs: number;
  readonly keepMs: number;
}

interface Over {
  readonly end: RunEnd;
  readonly kept: boolean;
  /** Milliseconds of `performance.now()`. */
  readonly giveUpAt: number;
}

export const readersOf = (stream: string) => `${stream}:readers`;

/**
 * Carries a recording into Redis while it grows, and keeps the lease that tells other replicas that its run is alive. It reads the recording as a
 * client does and never holds it up: while Redis is away it waits, and where Redis has forgotten everything it begins anew.
 */
export class Mirror {
  readonly #store: Store;
  readonly #recording: Recording;
  readonly #place: Place;
  readonly #seal: Seal;
  readonly #renewal: NodeJS.Timeout;
  readonly #aloneMs: () => number;
  #timer: NodeJS.Timeout | null = null;
  #flushed: Promise<void> = Promise.resolve();
  #stopped = false;
  #followed = false;
  #headed = false;
  /** The next chunk to carry over, and the place of the next entry. */
  #chunk = 0;
  #n = 0;
  /** Sent, and not known to have arrived: what is sent again must be the same. */
  #pending: readonly Buffer[] = [];
  #over: Over | null = null;
  #ended = false;

  /** @param aloneMs how often what was written is carried over while nobody reads along, in milliseconds */
  constructor(store: Store, recording: Recording, place: Place, seal: Seal, aloneMs: () => number) {
    this.#aloneMs = aloneMs;
    this.#store = store;
    this.#recording = recording;
    this.#place = place;
    this.#seal = seal;
    this.#renewal = setInterval(() => void this.#flush(), place.leaseMs / RENEWALS);
    this.#renewal.unref();
    recording.onGrowth = () => this.#soon();
  }

  /** What the recording holds so far is there already, in `n` entries. */
  resume(n: number): void {
    this.#headed = this.#recording.sent !== null;
    this.#chunk = this.#recording.length;
    this.#n = n;
  }

  /** Settles when all is there, or is given up. */
  settle(end: RunEnd, kept: boolean): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#over = { end, kept, giveUpAt: performance.now() + (kept ? LAST_READ_MS : 0) };
    return this.#flush();
  }

  /** Writes no more; the lease runs out by itself. */
  stop(): void {
    this.#stopped = true;
    this.#recording.onGrowth = null;
    clearInterval(this.#renewal);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #soon(): void {
    if (this.#timer !== null || this.#stopped) return;
    this.#timer = setTimeout(() => void this.#flush(), this.#followed ? FOLLOWED_MS : this.#aloneMs());
  }

  /** One after the other. */
  #flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushed = this.#flushed.then(() => this.#flushNow());
    return this.#flushed;
  }

  async #flushNow(): Promise<void> {
    if (this.#stopped) return;
    const answer = await this.#carry();
    if (this.#stopped) return;
    const over = this.#over;
    // Redis is away: the renewal tries again, for a while.
    if (answer === AWAY) {
      if (over !== null && performance.now() >= over.giveUpAt) this.stop();
    } else if (over === null) {
      if (this.#chunk < this.#recording.length) this.#soon();
    } else if (over.end.outcome === "canceled") await this.#release();
    else if (this.#ended) this.stop();
    else await this.#flushNow();
  }

  /** @returns whether it arrived */
  async #carry(): Promise<unknown> {
    const { token, leaseMs, keepMs, claim, lease, stream } = this.#place;
    if (this.#recording.spilled) {
      this.stop();
      return this.#store.run("nobody", DROP, [claim, lease, stream], [token]);
    }
    if (this.#pending.length === 0) this.#pending = this.#next();
    const keys = [claim, lease, stream, readersOf(stream)];
    const keep = this.#ended ? (this.#over?.kept === true ? keepMs : 0) : "";
    const times = [leaseMs, keepMs, keep, LAST_READ_MS];
    const answer = await this.#store.run("nobody", APPEND, keys, [token, ...times, this.#n, ...this.#pending]);
    if (answer === "gone") return this.#anew();
    if (answer === "followed" || answer === "alone") {
      this.#n += this.#pending.length;
      this.#pending = [];
      this.#followed = answer === "followed";
      this.#recording.readElsewhere = this.#followed;
    } else if (answer !== AWAY) this.stop();
    return answer;
  }

  #next(): Buffer[] {
    const entries: Entry[] = [];
    const { sent, length } = this.#recording;
    if (!this.#headed && sent !== null) entries.push({ kind: "head", ...sent });
    if (this.#chunk < length) entries.push({ kind: "bytes", bytes: this.#recording.since(this.#chunk) });
    if (this.#over !== null && this.#over.end.outcome !== "canceled") {
      entries.push({ kind: "end", end: this.#over.end });
      this.#ended = true;
    }
    this.#headed ||= sent !== null;
    this.#chunk = length;
    return entries.map((entry, i) => this.#seal.close(this.#n + i, encode(entry)));
  }

  /** Redis was restarted and has nothing of it any more. */
  async #anew(): Promise<unknown> {
    const { claim, lease, body, token, stream, leaseMs, keepMs } = this.#place;
    const answer = await this.#store.run("nobody", CLAIM, [claim, lease], [body, token, stream, leaseMs, keepMs]);
    if (answer === AWAY) return AWAY;
    if (!Array.isArray(answer) || answer[0] !== "owner") {
      // The key is another run's by now.
      this.stop();
      return answer;
    }
    this.#pending = [];
    this.#headed = false;
    this.#ended = false;
    this.#chunk = 0;
    this.#n = 0;
    return this.#carry();
  }

  async #release(): Promise<void> {
    const { claim, lease, stream, token } = this.#place;
    this.stop();
    await this.#store.run("nobody", RELEASE, [claim, lease, stream], [token]);
  }
}
