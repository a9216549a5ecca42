import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Failure, failure } from "./core/error.ts";
import { isVisit, sendPage } from "./dashboard/send.ts";
import { exchange } from "./exchange.ts";
import { cleanPath } from "./http/path.ts";
import { sendError } from "./http/respond.ts";
import { stoppingFailure } from "./recovery/failures.ts";
import type { Listener } from "./routes.ts";
import type { Services } from "./services.ts";
import { openAiShape, shapeAt, wireAt } from "./wire/index.ts";
import type { Wire } from "./wire/wire.ts";

// An import would load the module's late exports as well, Node's own WebSocket and fetch among them: a tenth of the time to listen.
const { createServer } = process.getBuiltinModule("node:http");

export interface Listening {
  /** As it was asked for, with the port that was given. */
  readonly url: string;
  /** The address that the host's name resolved to. */
  readonly address: string;
}

export interface App {
  /** @throws the listen error, for example EADDRINUSE */
  listen(host: string, port: number): Promise<Listening>;
  /** Loads what listening did without, before a request has to wait for it. */
  warm(): Promise<void>;
  /** Stops accepting, lets running replies finish for `drainSeconds`, then ends what is left. */
  close(drainSeconds: number): Promise<void>;
}

export function createApp(services: Services): App {
  const stopping = new AbortController();
  let loading: Promise<Listener> | null = null;
  // Not needed in order to listen, nor by any request of a full wire.
  const others = () => {
    loading ??= import("./routes.ts").then(({ createRoutes }) => createRoutes(services, stopping.signal));
    return loading;
  };
  const sockets = new Set<Socket>();
  const server = createServer(
    // A client has 30 s for its headers and as long as it likes for its body; replies take what they take.
    { headersTimeout: 30_000, requestTimeout: 0, keepAliveTimeout: 75_000, maxHeaderSize: 65_536 },
    (request, response) => {
      if (response.socket === null) heed(request.socket, response);
      const wire = admitted(services, request, response);
      if (wire === null) return;
      // The hot path does not wear Fetch objects: they would cost more than all the rest.
      if (wire !== OTHER) void exchange(services, wire, request, response);
      else void others().then((other) => other(request, response));
    },
  );
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (_request, socket: Socket) => {
    socket.on("error", () => undefined);
    const body = JSON.stringify(openAiShape.error(failure("not_supported", "WebSocket is not supported.")));
    socket.end(
      `HTTP/1.1 501 Not Implemented\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  });
  return {
    listen: (host, port) => listen(server, host, port),
    async warm() {
      await Promise.all([others(), services.metrics.text()]);
    },
    close: (drainSeconds) => {
      stopping.abort();
      return drain(server, sockets, drainSeconds, () => services.running.end(stoppingFailure(drainSeconds)));
    },
  };
}

/** How long an ended reply may take to reach its client. */
const LAST_WORDS_MS = 1_000;
/** How often connections that have become idle are looked for while lastword stops. */
const IDLE_MS = 50;

const OTHER = Symbol("not a full wire");

/** Who may call, and what: null where the request was answered here. */
function admitted(services: Services, request: IncomingMessage, response: ServerResponse): Wire | typeof OTHER | null {
  const guard = services.guard();
  const target = request.url ?? "/";
  // What is spelled as a wire's own path needs no cleaning.
  const spelled = wireAt(target);
  const path = spelled === null ? cleanPath(target) : target;
  const method = request.method ?? "GET";
  const wire = path === null || method !== "POST" ? null : (spelled ?? wireAt(path));
  const shape = wire ?? (path === null ? openAiShape : shapeAt(path));
  if (path === null) {
    sendError(response, failure("not_found", "There is nothing at this path."), shape);
    return null;
  }
  const incoming = { method, path, headers: request.headers };
  for (const [name, value] of Object.entries(guard.cors(incoming))) response.setHeader(name, value);
  const refusal = guard.check(incoming);
  if (refusal !== null) {
    if (wire !== null) turnedAway(services, wire, refusal);
    if (refusal.code === "unauthorized" && isVisit(path, request)) void sendPage(response, 401);
    else sendError(response, refusal, shape);
    return null;
  }
  if (guard.isPreflight(incoming)) {
    response.writeHead(204).end();
    return null;
  }
  return wire ?? OTHER;
}

/** Node tells a response that waits for its turn behind another (pipelining) nothing of its connection's end. */
function heed(socket: Socket, response: ServerResponse): void {
  const gone = () => {
    if (response.socket !== null) return;
    response.destroy();
    response.emit("close");
  };
  // There may be as many as the client likes.
  socket.setMaxListeners(0);
  socket.once("close", gone);
  response.once("close", () => socket.off("close", gone));
}

/** A request to a full wire that the guard turned away is counted like any other. */
function turnedAway(services: Services, wire: Wire, refusal: Failure): void {
  services.bus.emit({
    type: "finished",
    id: services.nextId(),
    model: "unknown",
    wire: wire.name,
    upstream: "",
    outcome: "rejected",
    cause: null,
    code: refusal.code,
    ms: 0,
    promptTokensEstimated: null,
    countMethod: null,
    promptTokens: null,
    completionTokens: null,
    billedPromptTokens: 0,
    billedCompletionTokens: 0,
    attempts: 0,
  });
}

function listen(server: HttpServer, host: string, port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const { port: bound, address } = server.address() as AddressInfo;
      resolve({ url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`, address });
    });
  });
}

/** Replies that are still running after `drainSeconds` are told to end; whoever has not read that to its end by then is cut off. */
function drain(
  server: HttpServer,
  sockets: ReadonlySet<Socket>,
  drainSeconds: number,
  endReplies: () => void,
): Promise<void> {
  // Node takes a connection for idle once its reply has been ended, though most of it may still wait for its reader. `close` asks too.
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if ([...sockets].every(({ writableLength }) => writableLength === 0)) closeIdle();
  };
  return new Promise((resolve) => {
    let timer = setTimeout(() => {
      endReplies();
      server.closeIdleConnections();
      timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, LAST_WORDS_MS);
    }, drainSeconds * 1000);
    // A connection that its client keeps alive becomes idle only when its reply has ended.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
