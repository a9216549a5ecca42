import { createHash } from "node:crypto";
import type { Redis } from "ioredis";

/** The first requests wait this long for the first connection, so that also a replica that has just begun knows of the others' runs. */
const OPEN_MS = 1_000;
/** How long an answer may take: where a request waits for it, and where nobody does. */
const ANSWER_MS = { request: 150, nobody: 2_000 } as const;
export type Waits = keyof typeof ANSWER_MS;
/** After an answer that did not come, no request waits for another one so soon. */
const PAUSE_MS = 500;
/** A connection on which nothing comes for this long, though something is asked, is given up. */
const SILENT_MS = 5_000;
const LONGEST_RECONNECT_MS = 2_000;

/** Redis has not answered: whoever asked does without. */
export const AWAY = Symbol("Redis is away");
export type Away = typeof AWAY;

/** What runs in one step within Redis. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export function script(source: string): Script {
  return { source, sha: createHash("sha1").update(source).digest("hex") };
}

/** `connected` is told whenever that changes; `why` is an error's name and never holds the URL. */
export type Changed = (connected: boolean, why: string) => void;

/**
 * What replicas share, in a Redis (or Valkey) that may be away at any time. No question fails: it is answered, or `AWAY` at once, or after the
 * time that whoever asks can wait. Meanwhile it is reconnected in the background. Two connections, whatever the load: one for questions, one to listen.
 */
export class Store {
  readonly #changed: Changed;
  readonly #channels = new Map<string, Set<(message: string) => void>>();
  /** Settled once the first attempt to connect has. */
  readonly #opened: Promise<void>;
  #asks: Redis | null = null;
  #listens: Redis | null = null;
  #closed = false;
  #connected = false;
  #pausedUntil = 0;

  constructor(url: string, changed: Changed) {
    this.#changed = changed;
    this.#opened = this.#open(url).catch((error) => changed(false, nameOf(error)));
  }

  /** @returns what Redis answers */
  async ask<T>(waits: Waits, question: (redis: Redis) => Promise<T>): Promise<T | Away> {
    if (this.#asks === null) await this.#opened;
    const redis = this.#asks;
    if (redis === null || redis.status !== "ready") return AWAY;
    if (waits === "request" && performance.now() < this.#pausedUntil) return AWAY;
    try {
      const answer = await inTime(question(redis), ANSWER_MS[waits]);
      if (answer === AWAY) this.#pausedUntil = performance.now() + PAUSE_MS;
      return answer;
    } catch (error) {
      this.#failed(error);
      return AWAY;
    }
  }

  run(
    waits: Waits,
    { source, sha }: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    return this.ask(waits, async (redis): Promise<unknown> => {
      try {
        return await redis.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
        return redis.eval(source, keys.length, ...keys, ...args);
      }
    });
  }

  /** Hears what is published, as long as Redis is there: what is missed meanwhile must not matter. @returns what ends it */
  subscribe(channel: string, heard: (message: string) => void): () => void {
    const all = this.#channels.get(channel) ?? new Set();
    if (all.size === 0) {
      this.#channels.set(channel, all);
      void this.#listens?.subscribe(channel).catch(() => undefined);
    }
    all.add(heard);
    return () => {
      all.delete(heard);
      if (all.size > 0 || this.#channels.get(channel) !== all) return;
      this.#channels.delete(channel);
      void this.#listens?.unsubscribe(channel).catch(() => undefined);
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opened;
    this.#asks?.disconnect();
    this.#listens?.disconnect();
  }

  async #open(url: string): Promise<void> {
    const { default: Redis } = await import("ioredis");
    if (this.#closed) return;
    const connect = () =>
      new Redis(url, {
        connectTimeout: OPEN_MS,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        socketTimeout: SILENT_MS,
        autoResendUnfulfilledCommands: false,
        retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times - 1, 6), LONGEST_RECONNECT_MS),
      });
    const listens = connect();
    listens.on("error", () => undefined);
    listens.on("message", (channel: string, message: string) => {
      for (const heard of [...(this.#channels.get(channel) ?? [])]) heard(message);
    });
    listens.on("ready", () => {
      if (this.#channels.size > 0) void listens.subscribe(...this.#channels.keys()).catch(() => undefined);
    });
    this.#listens = listens;
    const asks = connect();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, OPEN_MS);
      const settled = () => {
        clearTimeout(timer);
        resolve();
      };
      asks.on("error", (error: Error) => {
        this.#tell(false, nameOf(error));
        settled();
      });
      asks.on("ready", () => {
        this.#pausedUntil = 0;
        this.#tell(true, "");
        settled();
      });
      asks.on("close", () => this.#tell(false, "closed"));
    });
    this.#asks = asks;
  }

  #failed(error: unknown): void {
    // Redis itself answers with an error where it is full, read-only or forbids the command: as good as away.
    this.#pausedUntil = performance.now() + PAUSE_MS;
    this.#tell(false, nameOf(error));
  }

  #tell(connected: boolean, why: string): void {
    if (connected === this.#connected || this.#closed) return;
    this.#connected = connected;
    this.#changed(connected, why);
  }
}

/** An answer that is there by then but was not read yet, since this process was busy, counts as well. */
function inTime<T>(answer: Promise<T>, ms: number): Promise<T | Away> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => resolve(AWAY)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A code or a name, never the message: that may quote a command. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  return code ?? /^[A-Z]+(?= )/.exec(error.message)?.[0] ?? error.name;
}

/** A name of ours in Redis: what it stands for cannot be read from it. Names of one `kind` and `of` go to one node of a cluster. */
export function nameFor(kind: string, ...of: readonly string[]): string {
  const hash = createHash("sha256").update(of.join("\n")).digest("base64url").slice(0, 24);
  return `lastword:1:${kind}:{${hash}}`;
}
