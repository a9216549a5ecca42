import { isIP } from "node:net";
import type { Upstream } from "../config/upstream.ts";
import { parseJson } from "../core/json.ts";
import { unbearable } from "../core/structure.ts";
import type { Call, Client, Listener, RequestHeaders } from "./client.ts";
import { detect } from "./detect.ts";
import type { Dialect, Query } from "./dialect.ts";
import { Health } from "./health.ts";
import { dialectAt, dialects } from "./index.ts";
import { secretsOf } from "./quoted.ts";
import { Slots } from "./slots.ts";

/** An answer to a question of ours is a list or a number: larger ones are not read. */
const MOST_QUERY_BYTES = 32 * 1024 * 1024;
/** A server busy with a prompt answers late; a request must not wait for facts for longer than this. */
const QUERY_MS = 3_000;
/** How long a failed detection stands before it is tried again. */
const REDETECT_MS = 5_000;

/** One configured upstream at work: where it is, what it speaks, and how it is asked. */
export class Server {
  readonly config: Upstream;
  readonly slots = new Slots();
  readonly health = new Health();
  readonly name: string;
  readonly base: URL;
  /** Paths without a trailing slash: with and without the version segment. */
  readonly v1: string;
  readonly root: string;
  /** Of the config; null: the client's own is passed on. */
  readonly authorization: string | null;
  /** What no client may read, should the server quote it. */
  readonly secrets: readonly string[];
  readonly #query: string;
  readonly #origin: string;
  readonly #client: Client;
  #dialect: Dialect | null;
  #detecting: Promise<Dialect> | null = null;
  #detectedAt = Number.NEGATIVE_INFINITY;

  constructor(config: Upstream, client: Client) {
    this.config = config;
    this.name = config.name;
    this.base = new URL(config.url);
    this.v1 = this.base.pathname;
    this.root = this.v1.replace(/\/v\d[^/]*$/, "");
    this.#query = config.query;
    this.#origin = this.base.origin;
    this.authorization =
      config.key !== "" ? `Bearer ${config.key}` : config.basic !== "" ? `Basic ${config.basic}` : null;
    this.secrets = secretsOf(config);
    this.#client = client;
    this.#dialect = config.dialect === "auto" ? null : dialectAt(config.dialect, this.base);
  }

  /** Host and port for people; never credentials or a query. */
  get place(): string {
    return isIP(this.base.hostname) === 6 ? `[${this.base.hostname}]:${this.base.port}` : this.base.host;
  }

  /** Requests under way and in line. */
  get load(): number {
    return this.slots.taken + this.slots.waiting;
  }

  /** What it speaks, as far as is known now. */
  get dialectNow(): Dialect {
    return this.#dialect ?? dialects.generic;
  }

  /** What it speaks; asked by shape once, and again later where no server answered. */
  dialect(): Dialect | Promise<Dialect> {
    if (this.#dialect !== null) return this.#dialect;
    if (this.#detecting === null) {
      if (performance.now() - this.#detectedAt < REDETECT_MS) return dialects.generic;
      this.#detecting = detect(this.query(), this.base).then(({ dialect, answered }) => {
        this.#detecting = null;
        this.#detectedAt = performance.now();
        const spoken = dialectAt(dialect, this.base);
        if (answered) this.#dialect = spoken;
        return spoken;
      });
    }
    return this.#detecting;
  }

  call(
    method: string,
    path: string,
    headers: RequestHeaders,
    body: Parameters<Client["call"]>[0]["body"],
    listener: Listener,
  ): Call {
    const full = this.#query === "" ? path : path + (path.includes("?") ? `&${this.#query.slice(1)}` : this.#query);
    return this.#client.call({ origin: this.#origin, path: full, method, headers, body }, listener);
  }

  /**
   * Asks what generates nothing, authorised by the configured key, else by the client's own within its own request.
   * An aborted `signal` ends the asking: the answer is null then.
   */
  query(clientAuthorization: string | null = null, signal: AbortSignal | null = null): Query {
    const authorization = this.authorization ?? clientAuthorization;
    return (method, where, path, body) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) {
          resolve(null);
          return;
        }
        const headers: Record<string, string> = { accept: "application/json" };
        if (authorization !== null) headers.authorization = authorization;
        if (body !== undefined) headers["content-type"] = "application/json";
        const chunks: Buffer[] = [];
        let size = 0;
        let status = 0;
        const done = (answer: { status: number; json: unknown } | null) => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", giveUp);
          resolve(answer);
        };
        const giveUp = () => {
          call.abort();
          done(null);
        };
        // Before the call: one that fails at once is done before it is made.
        const timer = setTimeout(giveUp, QUERY_MS);
        timer.unref();
        signal?.addEventListener("abort", giveUp);
        const call = this.call(
          method,
          `${where === "v1" ? this.v1 : this.root}${path}`,
          headers,
          body === undefined ? null : JSON.stringify(body),
          {
            head: (code) => {
              status = code;
            },
            data: (chunk) => {
              size += chunk.length;
              if (size <= MOST_QUERY_BYTES) chunks.push(chunk);
              else giveUp();
            },
            end: () => {
              const all = Buffer.concat(chunks);
              const json = unbearable(all) === null ? parseJson(all.toString("utf8")) : undefined;
              done(json === undefined ? null : { status, json });
            },
            lost: () => done(null),
          },
        );
      });
  }

  /** null: it answers its model list (an answer that asks for a key counts); else why not. */
  async unready(authorization: string | null): Promise<string | null> {
    const answer = await this.query(authorization)("GET", "v1", "/models");
    if (answer === null) return `${this.name} at ${this.place} gives no answer`;
    return answer.status < 500 ? null : `${this.name} at ${this.place} answers with status ${answer.status}`;
  }
}
