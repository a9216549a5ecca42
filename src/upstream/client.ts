import diagnostics from "node:diagnostics_channel";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
// Its parts: the whole has fetch, caches and mocks too, and takes longer to load than all the rest of lastword.
import errors from "undici/lib/core/errors.js";
import Agent from "undici/lib/dispatcher/agent.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import { type Loss, lossOf } from "./loss.ts";
import { turnTime } from "./turn.ts";

/** How long replies may be worked on in one turn of the event loop. A single read may take longer. */
const LONG_TURN_MS = 10;

/** The only file that knows undici. Times in seconds are the callers' business; here nothing ever times out but the connect. */
export interface ClientOptions {
  /** @default 10 */
  readonly connectSeconds: number;
  /** `HTTPS_PROXY` or `HTTP_PROXY` is set: `NO_PROXY` decides per host. */
  readonly viaProxy: boolean;
}

/** By name, or names and values in turn. */
export type RequestHeaders = Record<string, string | string[]> | string[];

interface Request {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: RequestHeaders;
  readonly body: Buffer | string | Readable | null;
}

export interface Listener {
  head(status: number, headers: Record<string, string | string[] | undefined>): void;
  data(chunk: Buffer): void;
  end(trailers: Record<string, string | string[] | undefined>): void;
  lost(loss: Loss): void;
}

export interface Call {
  /** Holds the upstream back until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the socket at once. The listener hears nothing more. */
  abort(): void;
  /** The listener has heard enough: an answer that ends within `ms` leaves its socket for the next request, any other is aborted. */
  leave(ms: number): void;
}

export interface Client {
  call(request: Request, listener: Listener): Call;
  close(): Promise<void>;
}

/** Sockets that have carried a request before: one of them may have been closed by the server while it was idle. */
const used = new WeakSet<object>();
let starting: Exchange | null = null;

// undici tells the socket of a request only here, in the same tick in which it calls onRequestStart.
diagnostics.subscribe("undici:client:sendHeaders", (message) => {
  if (starting === null) return;
  const socket = (message as { socket: object }).socket;
  starting.reused = used.has(socket);
  used.add(socket);
  starting = null;
});

export function createClient(options: ClientOptions): Client {
  const settings: Agent.Options = {
    // undici's own limits are 300 s each and would cut slow local models; the exchange keeps its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: options.connectSeconds * 1000 },
    // Minutes, not 4 s: a burst of new streams finds warm sockets. A server's `Keep-Alive: timeout=N` hint shortens it.
    keepAliveTimeout: 120_000,
    keepAliveMaxTimeout: 600_000,
    // Headers of a reply are a few kB; a server that sends megabytes of them is broken.
    maxHeaderSize: 65_536,
  };
  const agent = (more: Agent.Options): Dispatcher =>
    options.viaProxy ? new EnvHttpProxyAgent({ ...settings, ...more }) : new Agent({ ...settings, ...more });
  // Without pipelining undici gives every request a socket of its own.
  const sockets: Sockets = { kept: agent({}), fresh: agent({ pipelining: 0 }) };
  return {
    call(request, listener) {
      const exchange = new Exchange(sockets, request, listener);
      exchange.dispatch(sockets.kept);
      return exchange;
    },
    async close() {
      await Promise.all([sockets.kept.destroy(), sockets.fresh.destroy()]);
    },
  };
}

interface Sockets {
  readonly kept: Dispatcher;
  /** For what must not meet a second dead socket. */
  readonly fresh: Dispatcher;
}

class Exchange implements Call, Dispatcher.DispatchHandler {
  reused = false;
  readonly #sockets: Sockets;
  readonly #request: Request;
  readonly #listener: Listener;
  #controller: Dispatcher.DispatchController | null = null;
  #answered = false;
  #done = false;
  #paused = false;
  #again = false;
  #leaving: NodeJS.Timeout | null = null;
  /** What of the body came with this read of the socket. */
  #read: Buffer[] = [];

  constructor(sockets: Sockets, request: Request, listener: Listener) {
    this.#sockets = sockets;
    this.#request = request;
    this.#listener = listener;
  }

  dispatch(dispatcher: Dispatcher): void {
    dispatcher.dispatch(this.#request, this);
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#controller?.resume();
  }

  abort(): void {
    if (this.#done) return;
    this.#done = true;
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  leave(ms: number): void {
    if (this.#done) return;
    this.#done = true;
    this.#leaving = setTimeout(() => this.#controller?.abort(new errors.RequestAbortedError()), ms);
    if (this.#paused) this.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborted while it waited for a connection: it must not be sent at all.
    if (this.#done) controller.abort(new errors.RequestAbortedError());
    else starting = this;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx are for the connection, not for us.
    if (this.#done || status < 200) return;
    this.#answered = true;
    this.#listener.head(status, headers);
    if (this.#paused) controller.pause();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#done) return;
    // A server that writes every token by itself makes a burst of hundreds of chunks, each of which would cost its way.
    if (this.#read.push(chunk) === 1) process.nextTick(flush, this);
  }

  /** Hands on what one read of the socket held, as one piece. */
  flush(): void {
    const [first, ...more] = this.#read;
    if (this.#done || first === undefined) return;
    const chunk = more.length === 0 ? first : Buffer.concat(this.#read);
    this.#read = [];
    turnTime();
    this.#listener.data(chunk);
    if (this.#paused) this.#controller?.pause();
    else if (turnTime() > LONG_TURN_MS) this.#breathe();
  }

  /** Lets others have their turn before the next read. */
  #breathe(): void {
    this.#controller?.pause();
    setImmediate(() => {
      if (!this.#paused) this.#controller?.resume();
    });
  }

  onResponseEnd(
    _controller: Dispatcher.DispatchController,
    trailers: Record<string, string | string[] | undefined>,
  ): void {
    // Who reads the last of it may leave.
    this.flush();
    if (this.#leaving !== null) clearTimeout(this.#leaving);
    if (this.#done) return;
    this.#done = true;
    this.#listener.end(trailers);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (starting === this) starting = null;
    this.flush();
    if (this.#leaving !== null) clearTimeout(this.#leaving);
    if (this.#done) return;
    // A kept-alive socket that the server had already closed: nothing was processed, so it is asked again once, on a new one.
    const replayable =
      typeof this.#request.body === "string" || Buffer.isBuffer(this.#request.body) || this.#request.body === null;
    if (this.reused && !this.#answered && !this.#again && replayable) {
      this.#again = true;
      this.reused = false;
      this.#controller = null;
      this.dispatch(this.#sockets.fresh);
      return;
    }
    this.#done = true;
    this.#listener.lost(lossOf(error, this.#answered));
  }
}

function flush(exchange: Exchange): void {
  exchange.flush();
}
