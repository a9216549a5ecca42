import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { HeaderList } from "./headers.ts";

export type ReplyHeaders = OutgoingHttpHeaders | HeaderList;

/**
 * Where a reply goes: a client's socket, or a recording that several clients read.
 * Nothing is sent before `head`, and after `end` everything is ignored, so that no caller needs to ask first.
 */
export interface Outlet {
  /** `head` was called: the status is out and a failure can only be told in the stream. */
  readonly committed: boolean;
  head(status: number, headers: ReplyHeaders): void;
  /** false: the reader is slow; write no more until `onDrain` calls. */
  write(chunk: Buffer | string): boolean;
  onDrain(resume: () => void): void;
  /** Gives up on readers that do not read. */
  drop(): void;
  end(chunk?: Buffer | string): void;
}

/** Bytes: a longer piece is not copied for its frame's sake. */
const MOST_FRAMED = 16_384;

/**
 * A client's own response. Pieces behind the first are framed here (RFC 9112, 7.1): those of one turn are one write of one string to the
 * socket, where `ServerResponse.write` makes four buffers of each, which cost more than all else that is done with it.
 */
export class SocketOutlet implements Outlet {
  readonly #response: ServerResponse;
  /** Times that the response itself was written to. */
  #written = 0;
  /** All of that is on its way: the response keeps what it is given until the end of that turn, and what is framed would overtake it. */
  #settled = false;
  /** Framed, and written at the end of this turn. */
  #framed = "";

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get committed(): boolean {
    return this.#response.headersSent;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (!this.#response.headersSent && !this.#response.destroyed) this.#response.writeHead(status, headers);
  }

  write(chunk: Buffer | string): boolean {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return true;
    const { socket } = response;
    // Without a socket an earlier answer on the same connection comes first.
    if (!this.#settled || socket === null || chunk.length > MOST_FRAMED) return this.#hand(chunk);
    if (this.#framed === "") process.nextTick(flush, this);
    const bytes = latin1Of(chunk);
    this.#framed += `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
    return !socket.writableNeedDrain;
  }

  /** Through the response itself. */
  #hand(chunk: Buffer | string): boolean {
    this.flush();
    const flows = this.#response.write(chunk);
    this.#settled = false;
    const written = ++this.#written;
    process.nextTick(() => {
      this.#settled = written === this.#written && this.#response.req.httpVersion === "1.1";
    });
    return flows;
  }

  /** Writes what was framed. */
  flush(): void {
    const framed = this.#framed;
    if (framed === "") return;
    this.#framed = "";
    if (!this.#response.destroyed) this.#response.socket?.write(framed, "latin1");
  }

  onDrain(resume: () => void): void {
    const response = this.#response;
    const { socket } = response;
    // What was framed drains the socket alone; what the response was given may drain the response alone.
    const drained = () => {
      response.off("drain", drained);
      socket?.off("drain", drained);
      resume();
    };
    response.once("drain", drained);
    socket?.once("drain", drained);
  }

  drop(): void {
    this.#response.destroy();
  }

  end(chunk?: Buffer | string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    this.flush();
    if (chunk === undefined) this.#response.end();
    else this.#response.end(chunk);
  }
}

/** The bytes of a piece, each a character. */
function latin1Of(chunk: Buffer | string): string {
  if (typeof chunk !== "string") return chunk.toString("latin1");
  return Buffer.byteLength(chunk) === chunk.length ? chunk : Buffer.from(chunk).toString("latin1");
}

function flush(outlet: SocketOutlet): void {
  outlet.flush();
}
