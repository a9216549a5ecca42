import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { mergedStatus } from "./cluster/merge.ts";
import { type Failure, failure } from "./core/error.ts";
import { dashboard, isVisit, sendPage } from "./dashboard/routes.ts";
import { exchange } from "./exchange.ts";
import { countTokens } from "./http/count-tokens.ts";
import { credentials } from "./http/headers.ts";
import { listModels } from "./http/models.ts";
import { passThrough } from "./http/passthrough.ts";
import { cleanPath } from "./http/path.ts";
import { sendError, sendJson } from "./http/respond.ts";
import { stoppingFailure } from "./recovery/failures.ts";
import type { Services } from "./services.ts";
import { openAiShape, shapeAt, wireAt } from "./wire/index.ts";
import type { Wire } from "./wire/wire.ts";

/** Paths of the dialects' own interfaces, handed on and never healed. */
const NATIVE = [
  "/api/v0/*",
  "/api/v1/*",
  "/api/*",
  "/props",
  "/slots",
  "/slots/*",
  "/tokenize",
  "/detokenize",
  "/apply-template",
  "/completion",
  "/infill",
  "/rerank",
];

type Env = { Bindings: HttpBindings };

/** Every route on one screen. */
function routes(services: Services, stopping: AbortSignal): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    const authorization = c.req.header("authorization") ?? null;
    const reasons = await Promise.all(services.servers().map((server) => server.unready(authorization)));
    const ready = reasons.some((reason) => reason === null);
    return ready ? c.json({ status: "ready" }) : c.json({ status: "not ready", reasons }, 503);
  });
  app.get("/metrics", async (c) =>
    c.body(await metricsText(services), 200, { "content-type": services.metrics.contentType }),
  );
  app.get("/status", async (c) => c.json(mergedStatus(await services.peers.gather("status"))));
  dashboard(app, services, stopping);
  app.get("/v1/models", (c) => models(services, c.env, null));
  app.get("/v1/models/:id{.+}", (c) => models(services, c.env, c.req.param("id")));
  for (const path of ["/v1/messages/count_tokens", "/messages/count_tokens"])
    app.post(path, (c) => counted(services, c.env));
  for (const path of ["/v1/*", ...NATIVE]) app.all(path, (c) => through(services, c.env));
  app.notFound((c) => refuse(c.env, failure("not_found", `There is no ${c.req.method} ${c.req.path} here.`)));
  return app;
}

export interface Listening {
  /** As it was asked for, with the port that was given. */
  readonly url: string;
  /** The address that the host's name resolved to. */
  readonly address: string;
}

/** One process writes its own; of several, the text is one. */
async function metricsText({ peers, metrics }: Services): Promise<string> {
  const parts = await peers.gather("metrics");
  if (parts.length <= 1) return metrics.text();
  return (await import("./events/metrics.ts")).mergedText(parts);
}

export interface App {
  /** @throws the listen error, for example EADDRINUSE */
  listen(host: string, port: number): Promise<Listening>;
  /** Stops accepting, lets running replies finish for `drainSeconds`, then ends what is left. */
  close(drainSeconds: number): Promise<void>;
}

export function createApp(services: Services): App {
  const stopping = new AbortController();
  const other = getRequestListener(routes(services, stopping.signal).fetch, { overrideGlobalObjects: false });
  const sockets = new Set<Socket>();
  const server = createServer(
    // A client has 30 s for its headers and as long as it likes for its body; replies take what they take.
    { headersTimeout: 30_000, requestTimeout: 0, keepAliveTimeout: 75_000, maxHeaderSize: 65_536 },
    (request, response) => {
      const wire = admitted(services, request, response);
      if (wire === null) return;
      // The hot path does not wear Fetch objects: they would cost more than all the rest.
      if (wire !== OTHER) void exchange(services, wire, request, response);
      else void other(request, response);
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
    close: (drainSeconds) => {
      stopping.abort();
      return drain(server, sockets, drainSeconds, () => services.running.end(stoppingFailure(drainSeconds)));
    },
  };
}

/** How long an ended reply may take to reach its client. */
const LAST_WORDS_MS = 1_000;

const OTHER = Symbol("not a full wire");

/** Who may call, and what: null where the request was answered here. */
function admitted(services: Services, request: IncomingMessage, response: ServerResponse): Wire | typeof OTHER | null {
  const guard = services.guard();
  const path = cleanPath(request.url ?? "/");
  const method = request.method ?? "GET";
  const wire = path === null || method !== "POST" ? null : wireAt(path);
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

async function models(services: Services, { incoming, outgoing }: HttpBindings, id: string | null): Promise<Response> {
  const { authorization } = credentials(incoming.headers, null, services.config().listen.keys.length > 0);
  const list = await listModels(services, authorization);
  if ("refused" in list) {
    const code = list.refused === null ? "upstream_unreachable" : "upstream_error";
    const why = failure(code, "No upstream gave a list of its models.", { upstream_status: list.refused });
    return refuse({ incoming, outgoing }, list.refused === null ? why : { ...why, status: list.refused });
  }
  if (id === null) sendJson(outgoing, 200, { object: "list", data: list.models });
  else {
    const model = list.models.find((one) => one.id === id);
    if (model === undefined)
      return refuse({ incoming, outgoing }, failure("not_found", "No upstream lists this model.", {}, "model"));
    sendJson(outgoing, 200, model);
  }
  return RESPONSE_ALREADY_SENT;
}

async function counted(services: Services, { incoming, outgoing }: HttpBindings): Promise<Response> {
  await countTokens(services, incoming, outgoing);
  return RESPONSE_ALREADY_SENT;
}

async function through(services: Services, { incoming, outgoing }: HttpBindings): Promise<Response> {
  await passThrough(services, incoming, outgoing);
  return RESPONSE_ALREADY_SENT;
}

function refuse({ outgoing }: HttpBindings, refusal: Failure): Response {
  sendError(outgoing, refusal, openAiShape);
  return RESPONSE_ALREADY_SENT;
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
  return new Promise((resolve) => {
    let timer = setTimeout(() => {
      endReplies();
      server.closeIdleConnections();
      timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, LAST_WORDS_MS);
    }, drainSeconds * 1000);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
