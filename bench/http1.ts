/**
 * As much of HTTP/1.1 as a bench needs, on raw sockets: `node:http` would cost more than what is measured. Heads are trusted to be
 * well-formed; bodies come with a length or in chunks.
 */
export type Framing = number | "chunked";

/** Where the head ends (behind its blank line), or -1. */
export function endOfHead(bytes: Buffer, from: number): number {
  const at = bytes.indexOf("\r\n\r\n", from);
  return at < 0 ? -1 : at + 4;
}

/** How the body behind this head is framed; 0 where there is none. */
export function framingOf(head: string): Framing {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return Number(length);
  return /\r\ntransfer-encoding: *chunked/i.test(head) ? "chunked" : 0;
}

/** A piece of body: `bytes` from `start` up to `end`. */
export type Take = (bytes: Buffer, start: number, end: number) => void;

type At = "size" | "data" | "after data" | "trailer" | "end";

const LF = 0x0a;
const CR = 0x0d;

/** Reads one body, in whatever pieces it comes. */
export class BodyReader {
  #at: At = "end";
  #chunked = false;
  /** Bytes left of the body, or of the chunk. */
  #left = 0;
  #lineLength = 0;

  begin(framing: Framing): this {
    this.#chunked = framing === "chunked";
    this.#left = framing === "chunked" ? 0 : framing;
    this.#lineLength = 0;
    if (this.#chunked) this.#at = "size";
    else this.#at = this.#left === 0 ? "end" : "data";
    return this;
  }

  get ended(): boolean {
    return this.#at === "end";
  }

  /** Gives what of the body is in `bytes` from `at` on. @returns where the body, or `bytes`, ends */
  read(bytes: Buffer, at: number, take: Take): number {
    let i = at;
    while (i < bytes.length && this.#at !== "end") {
      if (this.#at === "data") {
        const end = Math.min(bytes.length, i + this.#left);
        take(bytes, i, end);
        this.#left -= end - i;
        i = end;
        if (this.#left === 0) this.#at = this.#chunked ? "after data" : "end";
      } else {
        this.#frame(bytes[i] ?? 0);
        i++;
      }
    }
    return i;
  }

  /** One byte of chunk framing. */
  #frame(byte: number): void {
    if (byte === CR) return;
    if (this.#at === "after data") {
      if (byte === LF) this.#at = "size";
      return;
    }
    if (byte !== LF) {
      this.#lineLength++;
      if (this.#at === "size") this.#left = this.#left * 16 + hexOf(byte);
      return;
    }
    if (this.#at === "size") this.#at = this.#left === 0 ? "trailer" : "data";
    else if (this.#lineLength === 0) this.#at = "end";
    this.#lineLength = 0;
  }
}

function hexOf(byte: number): number {
  return byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
}
