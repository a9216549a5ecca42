import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Bytes } from "../core/bytes.ts";
import type { Failure } from "../core/error.ts";
import { asObject, type JsonObject, parseJson } from "../core/json.ts";
import type { Fault } from "../core/part.ts";
import { REPLY_BOUNDS, unbearable } from "../core/structure.ts";
import type { Call, Listener, RequestHeaders } from "../upstream/client.ts";
import { CR, EventSplitter, Garbled, LF } from "../upstream/frames.ts";
import { faultOf } from "../upstream/lessons.ts";
import type { Loss } from "../upstream/loss.ts";
import type { Server } from "../upstream/server.ts";

/** A single event, and a whole plain body, may be this large: a file in one tool call is; more is not a reply. */
const MOST_EVENT_BYTES = 32 * 1024 * 1024;
const MOST_BODY_BYTES = 64 * 1024 * 1024;
/** How long a socket may stay open behind the terminal event. */
const LINGER_MS = 100;
/** Bytes: an event of this size is looked at before it is parsed. */
const LARGE_RUN_BYTES = 131_072;
const MOST_LINES = 65_536;
/** Of an error's body, this much is read. */
const MOST_ERROR_BYTES = 1024 * 1024;

/** Whoever reads a streamed reply: runs of whole events, in order. */
export interface Reader {
  /** `status` and headers of a reply that has begun to stream. */
  opened(headers: Record<string, string | string[] | undefined>): void;
  /** Bytes as they came, before `run` sees them as events; for passing on what is not to be changed. */
  raw(chunk: Buffer): void;
  /** Whole events. `first`: the first run of the stream. */
  run(events: Buffer, first: boolean): void;
  /** The reply has had output: from now on the idle limit holds instead of the first-byte limit. */
  readonly started: boolean;
}

export type Landing =
  /** The stream ended, or its reader had seen the terminal event and stopped it. */
  | { readonly kind: "streamed" }
  | { readonly kind: "plain"; readonly body: JsonObject; readonly raw: Buffer; readonly headers: Headers }
  /** An HTTP error. */
  | { readonly kind: "refused"; readonly fault: Fault; readonly headers: Headers }
  /** 2xx that is neither events nor JSON, a redirect, an event too large. */
  | { readonly kind: "garbled"; readonly status: number; readonly what: string }
  | { readonly kind: "lost"; readonly loss: Loss }
  /** A limit of time: `first_byte` before any output, `idle` after it. */
  | { readonly kind: "stalled"; readonly limit: "first_byte" | "idle"; readonly seconds: number }
  /** The reader threw: a fault of lastword's own. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** Ended from outside: the client left, or time is up. */
  | { readonly kind: "aborted" }
  | { readonly kind: "expired"; readonly failure: Failure };

export type Headers = Record<string, string | string[] | undefined>;

export interface Limits {
  readonly firstByteSeconds: number;
  readonly idleSeconds: number;
}

/** One upstream call of a full wire. `landed` is called exactly once, unless `abort` was called before. */
export class Transport implements Listener {
  /** Received, after any decompression. */
  bytes = 0;
  readonly #reader: Reader;
  readonly #limits: Limits;
  readonly #landed: (landing: Landing) => void;
  readonly #splitter = new EventSplitter(MOST_EVENT_BYTES);
  readonly #body = new Bytes();
  #call: Call | null = null;
  #timer: NodeJS.Timeout | null = null;
  #waits: "first_byte" | "idle" = "first_byte";
  #mode: "undecided" | "events" | "body" | "error" = "undecided";
  #first = true;
  #status = 0;
  #headers: Headers = {};
  #decoder: (Readable & NodeJS.WritableStream) | null = null;
  /** Who holds the upstream back: the client that reads slowly, the decoder that has enough. */
  #held = { byReader: false, byDecoder: false };
  #done = false;

  constructor(reader: Reader, limits: Limits, landed: (landing: Landing) => void) {
    this.#reader = reader;
    this.#limits = limits;
    this.#landed = landed;
  }

  start(upstream: Server, path: string, headers: RequestHeaders, body: Buffer | string): void {
    this.#arm("first_byte");
    this.#call = upstream.call("POST", path, headers, body, this);
    if (this.#done) this.#call.abort();
  }

  // ---- what the call tells: whatever a reader throws ends this call and nothing else

  head(status: number, headers: Headers): void {
    try {
      this.#head(status, headers);
    } catch (error) {
      this.#broke(error);
    }
  }

  data(chunk: Buffer): void {
    try {
      this.#data(chunk);
    } catch (error) {
      this.#broke(error);
    }
  }

  end(): void {
    if (this.#decoder === null) this.#ended();
    else this.#decoder.end();
  }

  lost(loss: Loss): void {
    this.#land({ kind: "lost", loss });
  }

  #decoded(chunk: Buffer): void {
    try {
      this.#bytes(chunk);
    } catch (error) {
      this.#broke(error);
    }
  }

  #ended(): void {
    try {
      this.#end();
    } catch (error) {
      this.#broke(error);
    }
  }

  #broke(error: unknown): void {
    if (error instanceof Garbled) this.#land({ kind: "garbled", status: this.#status, what: error.message });
    else this.#land({ kind: "failed", error });
  }

  // ---- what its owner wants

  pause(): void {
    this.#held.byReader = true;
    this.#decoder?.pause();
    this.#hold();
    // A slow reader is not a silent server.
    this.#disarm();
  }

  resume(): void {
    if (this.#done) return;
    this.#held.byReader = false;
    this.#arm(this.#waits);
    this.#hold();
    this.#decoder?.resume();
  }

  #hold(): void {
    if (this.#held.byReader || this.#held.byDecoder) this.#call?.pause();
    else this.#call?.resume();
  }

  abort(): void {
    if (this.#done) return;
    this.#done = true;
    this.#release();
  }

  /** The reader has all it wants. `ended`: the reply's own end was seen, so that the socket will soon be free for the next request. */
  stop(ended: boolean): void {
    if (ended) this.#call?.leave(LINGER_MS);
    this.#land({ kind: "streamed" });
  }

  #head(status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
    const encoding = headers["content-encoding"];
    if (encoding !== undefined) this.#decode(decoderOf(String(encoding).toLowerCase()));
    if (status >= 400) this.#mode = "error";
    else if (status >= 300) this.#land({ kind: "garbled", status, what: "a redirect, which is not followed" });
    else if (String(headers["content-type"] ?? "").includes("text/event-stream")) this.#open();
  }

  #decode(decoder: (Readable & NodeJS.WritableStream) | null): void {
    this.#decoder = decoder;
    decoder?.on("data", (chunk: Buffer) => this.#decoded(chunk));
    decoder?.on("end", () => this.#ended());
    decoder?.on("error", () => this.#land({ kind: "garbled", status: this.#status, what: "an undecodable body" }));
    decoder?.on("drain", () => {
      this.#held.byDecoder = false;
      this.#hold();
    });
  }

  #open(): void {
    this.#mode = "events";
    this.#reader.opened(this.#headers);
  }

  #data(chunk: Buffer): void {
    if (this.#done) return;
    if (this.#decoder === null) this.#bytes(chunk);
    // A few kilobytes may hold gigabytes: no more of them until these are read.
    else if (!this.#decoder.write(chunk)) {
      this.#held.byDecoder = true;
      this.#hold();
    }
  }

  #bytes(chunk: Buffer): void {
    if (this.#done) return;
    this.bytes += chunk.length;
    if (this.#mode === "events") this.#events(chunk);
    else this.#collect(chunk);
    if (this.#done) return;
    // Comments are no output. Of a plain body every byte is.
    const waits = this.#waits === "first_byte" && !this.#reader.started && this.#mode !== "body";
    if (!waits) this.#arm("idle");
  }

  #events(chunk: Buffer): void {
    this.#reader.raw(chunk);
    const run = this.#splitter.push(chunk);
    if (run !== null) this.#pass(run);
  }

  #pass(run: Buffer): void {
    // Runs are as long as reads are, unless a single event is longer.
    if (run.length > LARGE_RUN_BYTES && (unbearable(run, REPLY_BOUNDS) !== null || hasManyLines(run)))
      throw new Garbled("an event that holds too much to be read");
    const first = this.#first;
    this.#first = false;
    this.#reader.run(run, first);
  }

  #collect(chunk: Buffer): void {
    this.#body.add(chunk);
    if (this.#mode === "undecided") this.#decide();
    const limit = this.#mode === "error" ? MOST_ERROR_BYTES : MOST_BODY_BYTES;
    if (this.#body.size <= limit) return;
    if (this.#mode === "error") this.#end();
    else this.#land({ kind: "garbled", status: this.#status, what: "a body larger than 64 MiB" });
  }

  /** The content type may lie in both directions: the first characters tell. */
  #decide(): void {
    const head = this.#body.view(0).toString("latin1").trimStart();
    if (head === "") {
      // Blanks keep a connection alive; one of them is as good as many.
      this.#body.take();
    } else if (/^(?:data:|event:|id:|retry:|:)/.test(head)) {
      this.#open();
      this.#events(this.#body.take());
    } else if (head.length >= 6 || !/^[deir:]/.test(head)) this.#mode = "body";
  }

  #end(): void {
    if (this.#done) return;
    if (this.#mode === "events") {
      const rest = this.#splitter.rest();
      // A last event without its blank line counts if it is whole; the reader's parser decides.
      if (rest !== null)
        this.#pass(Buffer.concat([rest, rest.at(-1) === 10 ? Buffer.from("\n") : Buffer.from("\n\n")]));
      this.#land({ kind: "streamed" });
      return;
    }
    const raw = this.#body.take();
    const text = unbearable(raw, REPLY_BOUNDS) === null ? raw.toString("utf8") : "";
    if (this.#mode === "error") {
      this.#land({ kind: "refused", fault: faultOf(this.#status, text), headers: this.#headers });
      return;
    }
    const body = asObject(parseJson(text.trim()));
    if (body === undefined)
      this.#land({
        kind: "garbled",
        status: this.#status,
        what: raw.length === 0 ? "an empty body" : "a body that is not JSON, or holds too much of it",
      });
    else this.#land({ kind: "plain", body, raw, headers: this.#headers });
  }

  #arm(what: "first_byte" | "idle"): void {
    if (this.#held.byReader) {
      this.#waits = what;
      return;
    }
    if (this.#timer !== null && this.#waits === what) {
      this.#timer.refresh();
      return;
    }
    this.#disarm();
    this.#waits = what;
    const seconds = what === "idle" ? this.#limits.idleSeconds : this.#limits.firstByteSeconds;
    this.#timer = setTimeout(() => this.#land({ kind: "stalled", limit: what, seconds }), seconds * 1000);
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #release(): void {
    this.#disarm();
    this.#call?.abort();
    this.#decoder?.destroy();
  }

  #land(landing: Landing): void {
    if (this.#done) return;
    this.#done = true;
    this.#release();
    this.#landed(landing);
  }
}

function hasManyLines(run: Buffer): boolean {
  let lines = 0;
  for (const end of [LF, CR])
    for (let at = run.indexOf(end); at !== -1 && lines <= MOST_LINES; at = run.indexOf(end, at + 1)) lines++;
  return lines > MOST_LINES;
}

function decoderOf(encoding: string): (Readable & NodeJS.WritableStream) | null {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "deflate":
      return createInflate();
    default:
      return null;
  }
}
