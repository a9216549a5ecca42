import { createHash, randomBytes } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import type { Config } from "../config/load.ts";
import type { Recording } from "../http/recording.ts";
import type { Claim, SharedRun } from "../http/replays.ts";
import type { RunEnd } from "../recovery/run.ts";
import { type Seal, Secret } from "./cipher.ts";
import { decode, type Entry } from "./entry.ts";
import { Mirror, type Names, type Place, readersOf } from "./mirror.ts";
import { AWAY, type Store } from "./redis.ts";
import { CLAIM, WATCH } from "./scripts.ts";
import { sleep } from "./sleep.ts";

/** How often within a lease a reader asks after the owner, and so tells it that somebody reads. */
const WATCHES = 5;
/** A reader goes on by itself when Redis has been away for this many leases. */
const MOST_AWAY = 2;
/**
 * How often a recording that nobody else reads is carried over: what is not there yet when its replica dies is only generated again. With many
 * of them it is less often, so that a process never sends more than some 1,000 a second.
 */
const ALONE_MS = 250;
const ALONE_MS_EACH = 1;
/** Entries per read. */
const BATCH = 200;
/** A run keeps its recording for at least this long between two signs of life. */
const LEAST_KEEP_MS = 60_000;

/** What a request with a key is, among all replicas. */
export type Fate =
  | { readonly is: "conflict" }
  /** Another replica's run, which the recording has now in full. */
  | { readonly is: "ended"; readonly end: RunEnd }
  /** This request is the run. `left`: takes up what a replica that died in the middle of it has left; null: nothing. */
  | { readonly is: "ours"; readonly left: Left | null };

/**
 * Puts the beginning of a reply into the recording, if it is not there yet. @returns its bytes, for the run to go on from;
 * null: it cannot be gone on with (`resumable`), and no reader was given any of it: the run begins anew
 */
type Left = (resumable: boolean) => Promise<Buffer | null>;

const FRESH: Fate = { is: "ours", left: null };

interface Head {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
}

/**
 * Runs of all replicas, by the keys that clients gave them. One replica owns a run and mirrors its recording into Redis, encrypted; a second
 * request with the key reads along wherever it comes in, and takes the run over when its owner has died. Without Redis every replica knows its own.
 */
export class Elsewhere {
  readonly #store: Store;
  readonly #secret: Secret;
  readonly #keepSeconds: () => number;
  readonly #leaseMs: number;
  readonly #mirrors = new Set<Mirror>();
  readonly #settling = new Set<Promise<void>>();
  readonly #revisions = new WeakMap<Config, string>();

  constructor(store: Store, replayKey: string, keepSeconds: () => number, leaseMs: number) {
    this.#store = store;
    this.#secret = new Secret(replayKey);
    this.#keepSeconds = keepSeconds;
    this.#leaseMs = leaseMs;
  }

  /** Settles at once where the run is ours, else when the other replica's run is over or lost. An aborted `signal` ends it. */
  async attend(claim: Claim, config: Config, run: SharedRun, signal: AbortSignal): Promise<Fate> {
    const names = this.#names(claim, config);
    const token = newToken();
    const keepMs = Math.max(LEAST_KEEP_MS, this.#keepSeconds() * 1000);
    const own: Place = { ...names, token, stream: streamOf(names.claim, token), leaseMs: this.#leaseMs, keepMs };
    const answer = await this.#claim(own);
    if (answer === AWAY || !Array.isArray(answer)) return FRESH;
    const [is, stream] = answer.map(String);
    if (is === "conflict" || stream === undefined) return { is: "conflict" };
    if (is === "owner") {
      this.#mirror(run, own);
      return FRESH;
    }
    const reader = new Reader(this.#store, { ...own, stream }, this.#secret.sealFor(stream));
    return is === "resume" ? this.#resume(reader, run) : this.#follow(reader, run, signal);
  }

  /** What has ended is carried over to its end; a run that has not is left to who asks for it next. */
  async close(): Promise<void> {
    for (const mirror of this.#mirrors) mirror.stop();
    await Promise.all(this.#settling);
  }

  /** The owner is dead, and the run is ours now. */
  async #resume(reader: Reader, run: SharedRun): Promise<Fate> {
    const chunks: Buffer[] = [];
    reader.heard = (entry) => {
      if (entry.kind === "bytes") chunks.push(entry.bytes);
    };
    await reader.readOn();
    const mirror = this.#mirror(run, reader.place);
    const bytes = Buffer.concat(chunks);
    const { head } = reader;
    if (head === null) {
      mirror.resume(reader.n);
      return FRESH;
    }
    const show = () => {
      put(run.recording, head, bytes);
      mirror.resume(reader.n);
    };
    const end = reader.end ?? endOfBody(head, bytes);
    if (end !== null) {
      show();
      run.recording.end();
      return { is: "ended", end };
    }
    const left: Left = async (resumable) => {
      if (resumable) show();
      else await this.#beginAnew(mirror, reader.place, run);
      return resumable ? bytes : null;
    };
    return { is: "ours", left };
  }

  async #beginAnew(mirror: Mirror, old: Place, run: SharedRun): Promise<void> {
    mirror.stop();
    const place = { ...old, stream: streamOf(old.claim, newToken()) };
    const answer = await this.#claim(place);
    if (Array.isArray(answer) && answer[0] === "owner") this.#mirror(run, place);
  }

  /** Another replica's run, as long as it lives. */
  async #follow(reader: Reader, run: SharedRun, signal: AbortSignal): Promise<Fate> {
    const { recording } = run;
    recording.replayed = true;
    reader.heard = (entry) => {
      if (entry.kind === "head") recording.head(entry.status, entry.headers);
      else if (entry.kind === "bytes") recording.write(entry.bytes);
    };
    const how = await reader.follow(signal);
    const bytes = recording.since(0);
    const end = reader.end ?? (reader.head === null ? null : endOfBody(reader.head, bytes));
    if (end !== null) recording.end();
    if (how === "ours") this.#mirror(run, reader.place).resume(reader.n);
    if (end !== null) return { is: "ended", end };
    if (reader.head === null) {
      recording.replayed = false;
      return FRESH;
    }
    return { is: "ours", left: async () => bytes };
  }

  #claim({ claim, lease, body, token, stream, leaseMs, keepMs }: Place): Promise<unknown> {
    return this.#store.run("request", CLAIM, [claim, lease], [body, token, stream, leaseMs, keepMs]);
  }

  #mirror(run: SharedRun, place: Place): Mirror {
    const pace = () => Math.max(ALONE_MS, this.#mirrors.size * ALONE_MS_EACH);
    const mirror = new Mirror(this.#store, run.recording, place, this.#secret.sealFor(place.stream), pace);
    this.#mirrors.add(mirror);
    run.copy = {
      settle: (end, kept) => {
        this.#mirrors.delete(mirror);
        const settling = mirror.settle(end, kept).finally(() => this.#settling.delete(settling));
        this.#settling.add(settling);
        return settling;
      },
    };
    return mirror;
  }

  #names({ caller, route, key, body }: Claim, config: Config): Names {
    const id = this.#secret.name(caller, route, key, this.#revision(config));
    const claim = `lastword:1:replay:{${id}}`;
    return { claim, lease: `${claim}:lease`, body: this.#secret.name(body) };
  }

  /** Replicas differ in where they listen; a run is the same where what it is made from is. */
  #revision(config: Config): string {
    const known = this.#revisions.get(config);
    if (known !== undefined) return known;
    const { upstreams, models, budget, recovery } = config;
    const revision = createHash("sha256")
      .update(JSON.stringify({ upstreams, models, budget, recovery }))
      .digest("base64url");
    this.#revisions.set(config, revision);
    return revision;
  }
}

/** Reads a recording that another replica writes, or has written. */
class Reader {
  readonly place: Place;
  readonly #store: Store;
  readonly #seal: Seal;
  /** Entries read. */
  n = 0;
  head: Head | null = null;
  end: RunEnd | null = null;
  heard: ((entry: Entry) => void) | null = null;
  #last = "-";

  constructor(store: Store, place: Place, seal: Seal) {
    this.#store = store;
    this.place = place;
    this.#seal = seal;
  }

  /** Reads what is there by now. false: Redis is away, or what is there is not for us to read. */
  async readOn(): Promise<boolean> {
    for (;;) {
      const found = await this.#store.ask("nobody", (redis) =>
        redis.xrangeBuffer(this.place.stream, this.#last, "+", "COUNT", BATCH),
      );
      if (found === AWAY) return false;
      for (const [id, fields] of found) {
        const plain = fields[1] === undefined ? null : this.#seal.open(this.n, fields[1]);
        const entry = plain === null ? null : decode(plain);
        if (entry === null) return false;
        this.n++;
        this.#last = `(${id.toString()}`;
        this.#take(entry);
      }
      if (found.length < BATCH) return true;
    }
  }

  /** Reads along until the run has ended, or its owner is lost. `ours`: we are the owner now. */
  async follow(signal: AbortSignal): Promise<"ended" | "ours" | "lost"> {
    const { claim, lease, token, stream, leaseMs } = this.place;
    let wake: () => void = () => undefined;
    let news = false;
    const unsubscribe = this.#store.subscribe(stream, () => {
      news = true;
      wake();
    });
    signal.addEventListener("abort", () => wake());
    let heardAt = performance.now();
    let watchedAt = Number.NEGATIVE_INFINITY;
    try {
      while (!signal.aborted) {
        news = false;
        const there = await this.readOn();
        if (this.end !== null) return "ended";
        if (there) heardAt = performance.now();
        else if (performance.now() - heardAt > MOST_AWAY * leaseMs) return "lost";
        if (there && performance.now() - watchedAt >= leaseMs / WATCHES) {
          watchedAt = performance.now();
          const answer = await this.#store.run(
            "nobody",
            WATCH,
            [claim, lease, readersOf(stream)],
            [token, stream, leaseMs],
          );
          if (answer === "gone" || answer === "ours") {
            await this.readOn();
            return this.end !== null ? "ended" : answer === "ours" ? "ours" : "lost";
          }
        }
        if (!news) await sleep(leaseMs / WATCHES, (wakes) => (wake = wakes));
      }
      return "lost";
    } finally {
      unsubscribe();
    }
  }

  #take(entry: Entry): void {
    if (entry.kind === "head") this.head = { status: entry.status, headers: entry.headers };
    else if (entry.kind === "end") this.end = entry.end;
    this.heard?.(entry);
  }
}

function put(recording: Recording, { status, headers }: Head, bytes: Buffer): void {
  recording.replayed = true;
  recording.head(status, headers);
  if (bytes.length > 0) recording.write(bytes);
}

/** A plain body says in its head how long it is, and how the run ended: it needs no other end. */
function endOfBody({ headers }: Head, bytes: Buffer): RunEnd | null {
  const outcome = headers["x-lastword-outcome"];
  if (Number(headers["content-length"]) !== bytes.length || typeof outcome !== "string") return null;
  return { outcome: outcome as RunEnd["outcome"], cause: null, code: null };
}

function newToken(): string {
  return randomBytes(12).toString("base64url");
}

function streamOf(claim: string, token: string): string {
  return `${claim}:${token}`;
}
