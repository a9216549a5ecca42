import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** One request as it stood on the wire. */
export interface BareRequest {
  /** 1 for the first POST. */
  readonly n: number;
  /** Request line and headers, as they came. */
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
  /** Number of the TCP connection, 1 for the first. */
  readonly connection: number;
}

export interface Bare extends AsyncDisposable {
  readonly url: string;
  readonly dialect: "vllm";
  readonly requests: readonly BareRequest[];
  readonly connections: number;
  /** Open sockets now. */
  readonly open: number;
}

export interface BareOptions {
  /** @default 127.0.0.1 */
  readonly host?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

const NO_MODELS = '{"object":"list","data":[]}';

/** A server without an HTTP library: it answers POSTs with whatever bytes a test writes, and GETs with an empty list. */
export async function startBare(answer: (request: BareRequest) => void, options: BareOptions = {}): Promise<Bare> {
  const { host = "127.0.0.1", tls } = options;
  const requests: BareRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  function serve(socket: Socket): void {
    const connection = ++connections;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    let pending = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      pending += chunk;
      for (;;) {
        const end = pending.indexOf("\r\n\r\n");
        if (end < 0) return;
        const head = pending.slice(0, end);
        const size = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
        if (pending.length < end + 4 + size) return;
        const body = pending.slice(end + 4, end + 4 + size);
        pending = pending.slice(end + 4 + size);
        if (head.startsWith("GET ")) socket.write(http(NO_MODELS));
        else {
          const request = { n: requests.length + 1, head, body, socket, connection };
          requests.push(request);
          answer(request);
        }
      }
    });
  }

  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on("tlsClientError", () => undefined);
  server.listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}/v1`,
    dialect: "vllm",
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A whole HTTP/1.1 answer with its length. */
export function http(body: string, type = "application/json", more = ""): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;
}

export const PLAIN = JSON.stringify({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
});

/** Chat chunks as bytes. */
export function said(...texts: string[]): string {
  return texts.map((content) => chunkOf({ delta: { content }, finish_reason: null })).join("");
}

export const STOPPED = `${chunkOf({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`;

function chunkOf(choice: object): string {
  const chunk = {
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, ...choice }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

export const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/** One chunk of chunked encoding; "" is the last. */
export function chunked(bytes: string): string {
  return `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`;
}
