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

/** A client's own response. */
export class SocketOutlet implements Outlet {
  readonly #response: ServerResponse;

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
    if (this.#response.destroyed || this.#response.writableEnded) return true;
    return this.#response.write(chunk);
  }

  onDrain(resume: () => void): void {
    this.#response.once("drain", resume);
  }

  drop(): void {
    this.#response.destroy();
  }

  end(chunk?: Buffer | string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    if (chunk === undefined) this.#response.end();
    else this.#response.end(chunk);
  }
}
