import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { byName } from "./headers.ts";
import type { Outlet, ReplyHeaders } from "./outlet.ts";

/** Bytes by which the slowest reader may lag before the run waits for it, once the recording is too long to be kept. */
const MOST_LAG = 256 * 1024;

/** Bytes that all recordings share. */
export interface Room {
  /** Whether there were so many, which are the taker's now. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

interface Reader {
  readonly response: ServerResponse;
  readonly replayed: boolean;
  /** The next chunk for it. */
  at: number;
  headed: boolean;
  blocked: boolean;
}

/**
 * The answer of one run, kept from its first byte so that a second request with the same key has it from its start.
 * As long as it is kept the run does not wait for slow readers. Once there is no more room for it, it is no recording any more: nothing can
 * be replayed, and the slowest reader holds the run back as on any other request.
 */
export class Recording implements Outlet {
  /** Kept, and counted against the room that all recordings share. */
  bytes = 0;
  /** Too long to be replayed. */
  spilled = false;
  ended = false;
  /** What it holds was not made for the request that is its own: every reader is told that it is a replay. */
  replayed = false;
  /** Called after each change, for who copies it. */
  onGrowth: (() => void) | null = null;
  readonly #room: Room;
  readonly #abandoned: (abandoned: boolean) => void;
  readonly #readers = new Set<Reader>();
  #chunks: (Buffer | string)[] = [];
  /** Number of the first chunk that is still there. */
  #from = 0;
  #status = 0;
  #headers: OutgoingHttpHeaders = {};
  #readElsewhere = false;
  #resume: (() => void) | null = null;

  /** `abandoned(true)`: the last reader has left before the end; `abandoned(false)`: one has come. */
  constructor(room: Room, abandoned: (abandoned: boolean) => void) {
    this.#room = room;
    this.#abandoned = abandoned;
  }

  get committed(): boolean {
    return this.#status !== 0;
  }

  /** The head, once it is there. */
  get sent(): { readonly status: number; readonly headers: OutgoingHttpHeaders } | null {
    return this.committed ? { status: this.#status, headers: this.#headers } : null;
  }

  /** Number of chunks so far. */
  get length(): number {
    return this.#from + this.#chunks.length;
  }

  /** All bytes from this chunk on. */
  since(chunk: number): Buffer {
    return Buffer.concat(this.#chunks.slice(chunk - this.#from).map((one) => Buffer.from(one)));
  }

  /** Somebody reads it whose socket is in another process. */
  set readElsewhere(reading: boolean) {
    if (reading === this.#readElsewhere) return;
    this.#readElsewhere = reading;
    this.#attended();
  }

  /** Sends the answer from its start, and on as it comes. */
  attach(response: ServerResponse, replayed: boolean): void {
    const reader: Reader = { response, replayed, at: this.#from, headed: false, blocked: false };
    this.#readers.add(reader);
    this.#attended();
    response.on("drain", () => {
      reader.blocked = false;
      this.#pump(reader);
      this.#relieve();
    });
    response.on("close", () => {
      this.#readers.delete(reader);
      this.#attended();
      this.#relieve();
    });
    this.#pump(reader);
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.committed) return;
    this.#status = status;
    this.#headers = Array.isArray(headers) ? byName(headers) : headers;
    for (const reader of this.#readers) this.#pump(reader);
    this.onGrowth?.();
  }

  write(chunk: Buffer | string): boolean {
    if (this.ended) return true;
    this.#chunks.push(chunk);
    if (!this.spilled) this.#account(Buffer.byteLength(chunk));
    for (const reader of this.#readers) this.#pump(reader);
    this.onGrowth?.();
    if (!this.spilled) return true;
    this.#forget();
    return this.#lag() <= MOST_LAG;
  }

  onDrain(resume: () => void): void {
    this.#resume = resume;
  }

  drop(): void {
    for (const { response, blocked } of this.#readers) if (blocked) response.destroy();
  }

  end(chunk?: Buffer | string): void {
    if (this.ended) return;
    if (chunk !== undefined) this.write(chunk);
    this.ended = true;
    for (const reader of this.#readers) this.#pump(reader);
  }

  #account(bytes: number): void {
    if (this.#room.take(bytes)) this.bytes += bytes;
    else this.spill();
  }

  /** It need not be kept any more than its readers want. */
  spill(): void {
    if (this.spilled) return;
    this.spilled = true;
    this.#room.give(this.bytes);
    this.bytes = 0;
  }

  #attended(): void {
    if (!this.ended) this.#abandoned(this.#readers.size === 0 && !this.#readElsewhere);
  }

  #pump(reader: Reader): void {
    const { response } = reader;
    if (!this.committed || reader.blocked || response.destroyed || response.writableEnded) return;
    if (!reader.headed) {
      reader.headed = true;
      response.writeHead(
        this.#status,
        reader.replayed || this.replayed ? { ...this.#headers, "x-lastword-replayed": "1" } : this.#headers,
      );
    }
    while (reader.at < this.#from + this.#chunks.length) {
      const chunk = this.#chunks[reader.at - this.#from];
      reader.at++;
      if (chunk !== undefined && !response.write(chunk)) {
        reader.blocked = true;
        return;
      }
    }
    if (this.ended) response.end();
  }

  /** What every reader has had is let go. */
  #forget(): void {
    const slowest = Math.min(this.#from + this.#chunks.length, ...[...this.#readers].map((reader) => reader.at));
    this.#chunks.splice(0, slowest - this.#from);
    this.#from = slowest;
  }

  #lag(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  #relieve(): void {
    if (!this.spilled) return;
    this.#forget();
    if (this.#lag() > MOST_LAG) return;
    const resume = this.#resume;
    this.#resume = null;
    resume?.();
  }
}
