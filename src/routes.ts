import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { mergedStatus } from "./cluster/merge.ts";
import { type Failure, failure } from "./core/error.ts";
import { dashboard } from "./dashboard/routes.ts";
import { countTokens } from "./http/count-tokens.ts";
import { credentials } from "./http/headers.ts";
import { listModels } from "./http/models.ts";
import { passThrough } from "./http/passthrough.ts";
import { sendError, sendJson } from "./http/respond.ts";
import type { Services } from "./services.ts";
import { openAiShape } from "./wire/index.ts";

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
export type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Answers whatever is no request of a full wire. `stopping` ends what would go on for ever. */
export function createRoutes(services: Services, stopping: AbortSignal): Listener {
  return getRequestListener(routes(services, stopping).fetch, { overrideGlobalObjects: false });
}

/** Every route but the full wires', on one screen. */
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
  // Hono's own would write the error, with whatever it quotes, to the console.
  app.onError((error, c) => refuse(c.env, services.fault(error)));
  return app;
}

/** One process writes its own; of several, the text is one. */
async function metricsText({ peers, metrics }: Services): Promise<string> {
  const parts = await peers.gather("metrics");
  if (parts.length <= 1) return metrics.text();
  return (await import("./events/metrics.ts")).mergedText(parts);
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
