import { createServer, type Socket } from "node:net";
import { micros } from "../clock.ts";
import { BodyReader, endOfHead, framingOf } from "../http1.ts";
import { Times } from "../load/spread.ts";
import { recitalFrom, SCENARIOS } from "../scenarios.ts";
import { Pace } from "./pace.ts";
import {
  closing,
  MODEL_LIST,
  NOT_FOUND,
  plainReply,
  roleEvent,
  STREAM_HEAD,
  stampEvent,
  textEvent,
  VERSION,
} from "./replies.ts";
import { type Wanted, wantedOf } from "./request.ts";

/**
 * The fake server: vLLM by its shapes, nothing by its cost. It runs in a process of its own, on raw sockets, and tells its port to
 * whoever forked it.
 */
const pace = new Pace();
/** How long continuations were here before their first byte was written, since somebody asked last. */
let held = new Times();
process.on("message", () => {
  process.send?.(held.spread());
  held = new Times();
});

const server = createServer({ noDelay: true }, (socket) => new Connection(socket));
server.listen(0, "127.0.0.1", 4096, () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on("disconnect", () => process.exit(0));

/** Whole bursts, with and without usage, made once: making them costs more than sending them. */
const bursts = new Map<string, Buffer>();

function burst({ model, usage, bytes }: Wanted): Buffer {
  const key = `${model} ${usage}`;
  let made = bursts.get(key);
  if (made === undefined) {
    const { chunks } = SCENARIOS[model];
    const tokens = Array.from({ length: chunks }, (_, index) => stampEvent(model, index)).join("");
    const spent = usage ? { prompt: bytes, completion: chunks } : null;
    made = Buffer.from(STREAM_HEAD + roleEvent(model) + tokens + closing(model, "stop", spent), "latin1");
    bursts.set(key, made);
  }
  return made;
}

class Connection {
  readonly #socket: Socket;
  readonly #body = new BodyReader();
  #rest: Buffer = Buffer.alloc(0);
  #head: string | null = null;
  #pieces: Buffer[] = [];
  #arrivedAt = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes) => this.#read(bytes));
    // Clients reset connections as they please.
    socket.on("error", () => socket.destroy());
  }

  #read(bytes: Buffer): void {
    let at = 0;
    let input = bytes;
    while (at < input.length) {
      if (this.#head === null) {
        if (this.#rest.length > 0) {
          input = Buffer.concat([this.#rest, input.subarray(at)]);
          at = 0;
        }
        const end = endOfHead(input, at);
        this.#rest = end < 0 ? Buffer.from(input.subarray(at)) : Buffer.alloc(0);
        if (end < 0) return;
        this.#arrivedAt = micros();
        const head = input.toString("latin1", at, end);
        this.#head = head;
        this.#body.begin(framingOf(head));
        at = end;
      }
      at = this.#body.read(input, at, (from, start, stop) => this.#pieces.push(from.subarray(start, stop)));
      if (this.#body.ended) this.#answer();
    }
  }

  #answer(): void {
    const head = this.#head ?? "";
    const body = this.#pieces.length === 1 ? (this.#pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#pieces);
    this.#head = null;
    this.#pieces = [];
    const [method = "", target = ""] = head.split(" ", 2);
    if (method === "POST" && target === "/v1/chat/completions") {
      const wanted = wantedOf(body);
      if (wanted === null) this.#socket.write(NOT_FOUND);
      else if (wanted.stream) this.#stream(wanted);
      else this.#socket.write(plainReply(wanted.model, wanted.bytes));
    } else if (target === "/v1/models") this.#socket.write(MODEL_LIST);
    else if (target === "/version") this.#socket.write(VERSION);
    else this.#socket.write(NOT_FOUND);
  }

  #stream(wanted: Wanted): void {
    const { model } = wanted;
    const { everyMs, continues } = SCENARIOS[model];
    if (everyMs > 0) this.#pace(wanted);
    else if (continues) this.#recite(wanted);
    else this.#socket.write(burst(wanted));
  }

  #pace({ model, usage, bytes }: Wanted): void {
    const socket = this.#socket;
    const { chunks, everyMs } = SCENARIOS[model];
    let index = 1;
    socket.write(STREAM_HEAD + roleEvent(model) + stampEvent(model, 0), "latin1");
    pace.add(everyMs, () => {
      if (socket.destroyed) return false;
      const more = index + 1 < chunks;
      const end = more ? "" : closing(model, "stop", usage ? { prompt: bytes, completion: chunks } : null);
      socket.write(stampEvent(model, index) + end, "latin1");
      index++;
      return more;
    });
  }

  #recite({ model, usage, cap, bytes, said, again }: Wanted): void {
    const left = recitalFrom(said);
    const tokens = left.slice(0, cap ?? left.length);
    const spent = usage ? { prompt: bytes, completion: tokens.length } : null;
    const events = [again, ...tokens].map((text) => (text === "" ? "" : textEvent(model, text))).join("");
    const reason = tokens.length < left.length ? "length" : "stop";
    this.#socket.write(STREAM_HEAD + roleEvent(model) + events + closing(model, reason, spent), "latin1");
    if (said > 0) held.add(micros() - this.#arrivedAt);
  }
}
