import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { WireName } from "../../src/core/ask.ts";
import { asObject, asString, type JsonObject, parseJson } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { perform, type Stage } from "./upstream-perform.ts";
import { type Answer, answerQuery, type Facts, type ModelSpec, modelNamed, windowOf } from "./upstream-queries.ts";
import type { Act, Script } from "./upstream-script.ts";

export { nudges } from "./upstream-nudges.ts";
export { overflow } from "./upstream-overflow.ts";
export { recite } from "./upstream-recite.ts";
export * from "./upstream-script.ts";
export { promptTokens, tokenize } from "./upstream-tokens.ts";

export interface UpstreamOptions {
  readonly dialect: DialectName;
  /** Tokens; null: told nowhere. @default 4096 */
  readonly window?: number | null;
  /** @default one model, `m` */
  readonly models?: readonly (string | ModelSpec)[];
  /** A path before the version segment, for example `/proxy`. @default "" */
  readonly prefix?: string;
  /** Every request needs `Authorization: Bearer` with this key, or `x-api-key`. */
  readonly needsKey?: string;
  /** @default "exact" */
  readonly counts?: Facts["counts"];
  /** @default "v1" */
  readonly native?: Facts["native"];
  /** @default false */
  readonly router?: boolean;
}

/** One request as it was received. */
export interface Call {
  /** 1 for the first of its kind (generation calls and queries are numbered apart). */
  readonly n: number;
  readonly method: string;
  /** Without prefix and query string. */
  readonly path: string;
  readonly search: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** `{}` where the body is not a JSON object. */
  readonly body: JsonObject;
  /** null: not a generation call. */
  readonly wire: WireName | null;
  readonly dialect: DialectName;
  readonly window: number | null;
  /** Number of the TCP connection, 1 for the first: equal numbers were one socket used again. */
  readonly socket: number;
  /** Milliseconds of `performance.now()`. */
  readonly receivedAt: number;
  /** The client closed its socket before the end of the answer. */
  readonly aborted: boolean;
  /** When it did, in milliseconds of `performance.now()`; null while it has not. */
  readonly abortedAt: number | null;
  /** How the call ended: answered, aborted by the client, or reset by the script. */
  readonly ended: Promise<"answered" | "aborted" | "reset">;
}

export type Handler = (call: Call, n: number) => Script | Promise<Script>;
type QueryHandler = (call: Call) => Answer | Script | Promise<Answer | Script>;

export interface Upstream extends AsyncDisposable {
  /** Base with the version segment, as a config would have it. */
  readonly url: string;
  /** `http://127.0.0.1:PORT`, and the prefix where there is one. */
  readonly root: string;
  readonly dialect: DialectName;
  /** Generation calls, in order. */
  readonly calls: readonly Call[];
  /** Every other request, in order. */
  readonly queries: readonly Call[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** Queues the script of one call. Queued scripts come before the handler. */
  next(...script: Act[]): void;
  /** Answers all calls for which nothing is queued. */
  handle(handler: Handler): void;
  /** Answers `METHOD /path` (a `*` at the end: any rest), before the dialect's own answer. Also generation paths. */
  on(route: string, handler: QueryHandler): void;
  /** The n-th generation call, once it has come. @default 1 */
  call(n?: number): Promise<Call>;
  /** Lets one `pause(gate)` go on, the next to come if none waits. */
  release(gate?: string): void;
  /** Resolves once a `pause(gate)` has been reached for the n-th time. @default n 1 */
  reached(gate?: string, n?: number): Promise<void>;
  /** Ends all connections. @throws the first error of a handler */
  close(): Promise<void>;
}

const PATHS: readonly (readonly [string, WireName])[] = [
  ["/chat/completions", "chat"],
  ["/completions", "completions"],
  ["/responses", "responses"],
  ["/messages", "messages"],
];

/** Starts a server on a free loopback port that speaks one dialect and plays scripts. */
export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const {
    dialect,
    window = 4096,
    models = ["m"],
    counts = "exact",
    native = "v1",
    router = false,
    prefix = "",
  } = options;
  const facts: Facts = {
    dialect,
    window,
    models: models.map((model) => (typeof model === "string" ? { id: model } : model)),
    counts,
    native,
    router,
  };
  const base = dialect === "openrouter" ? "/api/v1" : "/v1";
  const queue: Script[] = [];
  const routes = new Map<string, QueryHandler>();
  const calls: Call[] = [];
  const queries: Call[] = [];
  const sockets = new Map<Socket, number>();
  const faults: unknown[] = [];
  const gates = new Gates();
  const arrivals = new Arrivals();
  let handler: Handler | null = null;

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const bytes = await read(req);
    if (bytes === null) return;
    const url = new URL(req.url ?? "/", "http://upstream");
    if (url.pathname.startsWith(`${prefix}/`)) url.pathname = url.pathname.slice(prefix.length);
    const wire = req.method === "POST" ? wireAt(url.pathname, base, dialect) : null;
    const list = wire === null ? queries : calls;
    const { call, stage } = receive(req, res, url, bytes, wire, list.length + 1);
    list.push(call);
    if (wire !== null) arrivals.reach("call", calls.length);
    const script = await scriptFor(call);
    await perform(script, stage);
  }

  async function scriptFor(call: Call): Promise<Script> {
    const refused = keyRefusal(options.needsKey, call.headers);
    if (refused !== null) return refused;
    const route = routeFor(routes, call);
    if (route !== undefined) return scripted(await route(call));
    if (call.wire === null) return scripted(answerQuery(facts, call));
    const queued = queue.shift();
    if (queued !== undefined) return queued;
    if (handler !== null) return await handler(call, call.n);
    return scripted({ status: 418, json: { error: { message: `call ${call.n} has no script`, type: "unscripted" } } });
  }

  function receive(
    req: IncomingMessage,
    res: ServerResponse,
    url: URL,
    bytes: Buffer,
    wire: WireName | null,
    n: number,
  ): { call: Call; stage: Stage } {
    const gone = new AbortController();
    let abortedAt: number | null = null;
    let reset = false;
    const ended = new Promise<"answered" | "aborted" | "reset">((resolve) => {
      res.once("close", () => {
        const cut = !res.writableFinished && !reset;
        if (cut) abortedAt = performance.now();
        gone.abort();
        resolve(cut ? "aborted" : reset ? "reset" : "answered");
      });
    });
    const body = asObject(parseJson(bytes.toString())) ?? {};
    const call: Call = {
      n,
      method: req.method ?? "GET",
      path: url.pathname,
      search: url.searchParams,
      headers: req.headers,
      bytes,
      body,
      wire,
      dialect,
      window: windowOf(facts, modelNamed(facts, body.model)),
      socket: sockets.get(req.socket) ?? 0,
      receivedAt: performance.now(),
      get aborted() {
        return abortedAt !== null;
      },
      get abortedAt() {
        return abortedAt;
      },
      ended,
    };
    const stage: Stage = {
      dialect,
      wire,
      n,
      body,
      model: asString(body.model) ?? facts.models[0]?.id ?? "m",
      res,
      gone: gone.signal,
      reset(how) {
        reset = true;
        if (how === "reset") req.socket.resetAndDestroy();
        else req.socket.destroy();
      },
      pause: (gate) => gates.wait(gate, gone.signal),
    };
    return { call, stage };
  }

  const server = createServer((req, res) => {
    serve(req, res).catch((error: unknown) => {
      if (res.destroyed) return;
      faults.push(error);
      if (!res.headersSent) res.writeHead(500, { "content-type": "text/plain" });
      res.end(String(error));
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.set(socket, sockets.size + 1);
    socket.setNoDelay(true);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;

  async function close(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    if (faults.length > 0) throw faults[0];
  }

  return {
    url: root + base,
    root,
    dialect,
    calls,
    queries,
    get connections() {
      return sockets.size;
    },
    next: (...script) => void queue.push(script),
    handle(next) {
      handler = next;
    },
    on: (route, answer) => void routes.set(route, answer),
    async call(n = 1) {
      await arrivals.wait("call", n);
      const call = calls[n - 1];
      if (call === undefined) throw new Error(`call ${n} was not kept`);
      return call;
    },
    release: (gate = "") => gates.release(gate),
    reached: (gate = "", n = 1) => gates.reached(gate, n),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Which wire a path generates on. llama-server and Ollama's neighbours differ: only llama-server has paths without `/v1`. */
function wireAt(path: string, base: string, dialect: DialectName): WireName | null {
  for (const [tail, wire] of PATHS) {
    if (path === base + tail) return wire;
    if (dialect === "llamacpp" && path === tail) return wire;
  }
  return null;
}

function routeFor(routes: ReadonlyMap<string, QueryHandler>, call: Call): QueryHandler | undefined {
  const at = `${call.method} ${call.path}`;
  const exact = routes.get(at);
  if (exact !== undefined) return exact;
  for (const [route, answer] of routes) if (route.endsWith("*") && at.startsWith(route.slice(0, -1))) return answer;
  return undefined;
}

function scripted(answer: Answer | Script): Script {
  if (Array.isArray(answer)) return answer as Script;
  const { status = 200, json, text, headers = {} } = answer as Answer;
  return [{ act: "status", status, body: json === undefined ? (text ?? "") : json, headers }];
}

function keyRefusal(key: string | undefined, headers: IncomingHttpHeaders): Script | null {
  if (key === undefined || headers.authorization === `Bearer ${key}` || headers["x-api-key"] === key) return null;
  const error = {
    message: "Incorrect API key provided.",
    type: "invalid_request_error",
    param: null,
    code: "invalid_api_key",
  };
  return scripted({ status: 401, json: { error } });
}

/** The whole body; null where the client left before its end. */
async function read(req: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of req) pieces.push(piece as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(pieces);
}

/** Counts what has come, by name, and tells those who wait for a number. */
class Arrivals {
  readonly #counts = new Map<string, number>();
  readonly #waiting: { name: string; n: number; resolve: () => void }[] = [];

  reach(name: string, n: number = (this.#counts.get(name) ?? 0) + 1): void {
    this.#counts.set(name, n);
    for (const waiter of [...this.#waiting]) {
      if (waiter.name !== name || waiter.n > n) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.resolve();
    }
  }

  wait(name: string, n: number): Promise<void> {
    if ((this.#counts.get(name) ?? 0) >= n) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ name, n, resolve }));
  }
}

/** Gates by name: a pause waits for one release, a release may come first. */
class Gates {
  readonly #permits = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #arrivals = new Arrivals();

  async wait(gate: string, gone: AbortSignal): Promise<void> {
    this.#arrivals.reach(gate);
    const permits = this.#permits.get(gate) ?? 0;
    if (permits > 0) {
      this.#permits.set(gate, permits - 1);
      return;
    }
    await new Promise<void>((resolve) => {
      const queue = this.#waiting.get(gate) ?? [];
      this.#waiting.set(gate, queue);
      queue.push(resolve);
      gone.addEventListener("abort", () => {
        const place = queue.indexOf(resolve);
        if (place >= 0) queue.splice(place, 1);
        resolve();
      });
    });
  }

  release(gate: string): void {
    const first = this.#waiting.get(gate)?.shift();
    if (first === undefined) this.#permits.set(gate, (this.#permits.get(gate) ?? 0) + 1);
    else first();
  }

  reached(gate: string, n: number): Promise<void> {
    return this.#arrivals.wait(gate, n);
  }
}
