import { connect, type Socket } from "node:net";
import { micros } from "../clock.ts";
import { BodyReader, endOfHead, framingOf } from "../http1.ts";
import type { Listener } from "./listener.ts";
import type { NextRequest } from "./request.ts";

/** What a caller tells of each answer. */
export interface Score {
  /** May one more request be sent? */
  more(): boolean;
  answered(microseconds: number): void;
  /** With 400: the request does not fit. */
  refused(microseconds: number): void;
  failed(complaint: string): void;
  /** The caller has sent its last request and heard the answer. */
  done(): void;
}

/** One keep-alive connection that sends one request after the other. */
export class Caller {
  readonly #port: number;
  readonly #next: NextRequest;
  readonly #listener: Listener;
  readonly #score: Score;
  readonly #body = new BodyReader();
  #socket: Socket | null = null;
  #rest: Buffer = Buffer.alloc(0);
  #inBody = false;
  #busy = false;
  #stopped = false;
  #status = 0;
  #complaint = "";
  #sentAt = 0;

  constructor(port: number, next: NextRequest, listener: Listener, score: Score) {
    this.#port = port;
    this.#next = next;
    this.#listener = listener;
    this.#score = score;
  }

  open(): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
      this.#socket = socket;
      socket.once("connect", () => resolve());
      socket.on("data", (bytes) => this.#read(bytes));
      socket.on("error", (error) => {
        this.#complaint = error.message;
      });
      socket.on("close", () => {
        resolve();
        this.#closed(socket);
      });
    });
  }

  /** Sends the next request, or none where none is left to send. */
  send(): void {
    if (this.#stopped || !this.#score.more()) {
      this.stop();
      return;
    }
    const bytes = this.#next();
    this.#busy = true;
    this.#sentAt = micros();
    this.#listener.begin(this.#sentAt);
    this.#socket?.write(bytes);
  }

  /** Breaks off what is under way. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#socket?.destroy();
    this.#score.done();
  }

  #read(bytes: Buffer): void {
    let input = bytes;
    let at = 0;
    if (this.#rest.length > 0) input = Buffer.concat([this.#rest, bytes]);
    this.#rest = Buffer.alloc(0);
    if (!this.#inBody) {
      const end = endOfHead(input, 0);
      if (end < 0) {
        this.#rest = input;
        return;
      }
      const head = input.toString("latin1", 0, end);
      this.#status = Number(head.slice(9, 12));
      this.#body.begin(framingOf(head));
      this.#inBody = true;
      at = end;
    }
    this.#body.read(input, at, (from, start, end) => this.#listener.hear(from, start, end));
    if (this.#body.ended) this.#answered();
  }

  #answered(): void {
    this.#inBody = false;
    this.#busy = false;
    const took = micros() - this.#sentAt;
    const complaint = this.#status === 200 ? this.#listener.end() : `status ${this.#status}`;
    if (complaint === null) this.#score.answered(took);
    else if (this.#status === 400) this.#score.refused(took);
    else this.#score.failed(complaint);
    this.send();
  }

  /** The other side closed. A connection between two requests is opened again. */
  #closed(socket: Socket): void {
    if (this.#stopped || socket !== this.#socket) return;
    this.#inBody = false;
    this.#rest = Buffer.alloc(0);
    if (this.#busy) this.#score.failed(`connection lost ${this.#complaint}`.trim());
    this.#busy = false;
    void this.open().then(() => this.send());
  }
}
