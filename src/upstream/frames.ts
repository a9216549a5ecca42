import { createParser, type EventSourceMessage } from "eventsource-parser";
import { Bytes } from "../core/bytes.ts";

/** One event with the bytes in which it came, its blank line included. */
export interface RawEvent {
  readonly event: string;
  readonly data: string;
  readonly bytes: Buffer;
}

/** What came cannot be read as a stream of events; the message says what it was. */
export class Garbled extends Error {
  constructor(what: string) {
    super(what);
    this.name = "Garbled";
  }
}

/** Events in a row that are no JSON: so many are no mishap. */
export const MOST_GARBAGE = 10_000;

export const LF = 10;
export const CR = 13;

/**
 * Cuts a byte stream into runs of whole SSE events without parsing them.
 * Bytes behind the last blank line wait for more; nothing is ever split inside an event, so a character cannot be either.
 */
export class EventSplitter {
  readonly #kept = new Bytes();
  readonly #maxBytes: number;

  /** @param maxBytes the largest single event; a larger one throws Garbled */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The whole events that are complete now, or null. */
  push(chunk: Buffer): Buffer | null {
    if (chunk.length === 0) return null;
    if (this.#kept.size === 0) {
      const end = lastBoundary(chunk);
      if (end === chunk.length) return chunk;
      this.#keep(chunk.subarray(end));
      return end === 0 ? null : chunk.subarray(0, end);
    }
    // A blank line that ends in this read may have begun up to three bytes before it: CR LF CR.
    const near = Math.max(0, this.#kept.size - 3);
    this.#keep(chunk);
    const end = lastBoundary(this.#kept.view(near));
    if (end === 0) return null;
    const all = this.#kept.take();
    if (near + end < all.length) this.#keep(all.subarray(near + end));
    return all.subarray(0, near + end);
  }

  /** What is left when the stream has ended: perhaps a last event without its blank line. */
  rest(): Buffer | null {
    return this.#kept.size === 0 ? null : this.#kept.take();
  }

  #keep(bytes: Buffer): void {
    if (this.#kept.size + bytes.length > this.#maxBytes)
      throw new Garbled(`an event larger than ${this.#maxBytes} bytes`);
    this.#kept.add(bytes);
  }
}

/** The offset just behind the last blank line, 0 where there is none. A CR at the very end may be half of CRLF: it waits. */
function lastBoundary(bytes: Buffer): number {
  if (bytes.indexOf(CR) === -1) {
    const at = bytes.lastIndexOf("\n\n");
    return at === -1 ? 0 : at + 2;
  }
  // Line ends of every kind, from the back: a blank line is a line end right behind another.
  for (let i = bytes.length - 1; i > 0; i--) {
    const byte = bytes[i];
    if (byte === LF) {
      const before = bytes[i - 1] === CR ? i - 2 : i - 1;
      if (before >= 0 && (bytes[before] === LF || bytes[before] === CR)) return i + 1;
    } else if (byte === CR && i < bytes.length - 1 && (bytes[i - 1] === CR || bytes[i - 1] === LF)) {
      return i + 1;
    }
  }
  return 0;
}

/** Parses whole events. Comments and fields without data give no event; their bytes stay with the event that follows. */
export function parseEvents(run: Buffer, bom: boolean): RawEvent[] {
  const found: RawEvent[] = [];
  let start = 0;
  for (const end of boundaries(run)) {
    const bytes = run.subarray(start, end);
    start = end;
    found.push(...parseOne(bytes, bom && found.length === 0));
  }
  if (start < run.length) found.push(...parseOne(run.subarray(start), false));
  return found;
}

function parseOne(bytes: Buffer, bom: boolean): RawEvent[] {
  let text = bytes.toString("utf8");
  if (bom && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  const messages: EventSourceMessage[] = [];
  let stray = "";
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    // Old llama-server builds send `error: {...}` as a field of its own.
    onError: (error) => {
      if (error.type === "unknown-field" && error.field === "error") stray = error.value ?? "";
    },
  });
  parser.feed(text.endsWith("\n\n") || text.endsWith("\r\n\r\n") ? text : `${text}\n\n`);
  if (stray !== "") return [{ event: "error", data: stray, bytes }];
  if (messages.length === 0) return [{ event: "", data: "", bytes }];
  return messages.map((message, i) => ({
    event: message.event ?? "",
    data: message.data,
    bytes: i === 0 ? bytes : bytes.subarray(bytes.length),
  }));
}

function* boundaries(run: Buffer): Generator<number> {
  if (run.indexOf(CR) === -1) {
    for (let at = run.indexOf("\n\n"); at !== -1; at = run.indexOf("\n\n", at + 2)) yield at + 2;
    return;
  }
  let atLineStart = false;
  for (let i = 0; i < run.length; i++) {
    const byte = run[i];
    if (byte !== LF && byte !== CR) {
      atLineStart = false;
      continue;
    }
    if (byte === CR && run[i + 1] === LF) i++;
    if (atLineStart) {
      yield i + 1;
      atLineStart = false;
    } else atLineStart = true;
  }
}

const BLANK_LINE = Buffer.from("\n\n");

/** About how many events a run holds: at least one, and exactly where its lines end in LF. */
export function countEvents(run: Buffer): number {
  let count = 0;
  for (let at = run.indexOf(BLANK_LINE); at !== -1; at = run.indexOf(BLANK_LINE, at + 2)) count++;
  return Math.max(1, count);
}
