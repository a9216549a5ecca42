import type { IncomingMessage, ServerResponse } from "node:http";
import type { Counter } from "../budget/count.ts";
import type { Config } from "../config/load.ts";
import { policyFor } from "../config/policy.ts";
import type { Ask } from "../core/ask.ts";
import { type Failure, Refused } from "../core/error.ts";
import { asNumber, asObject } from "../core/json.ts";
import type { Query } from "../upstream/dialect.ts";
import type { Server } from "../upstream/server.ts";
import { countedTokens, messages } from "../wire/messages/messages.ts";
import { readBody } from "./body.ts";
import { credentials } from "./headers.ts";
import { objectOf } from "./json.ts";
import { sendError, sendJson } from "./respond.ts";

interface Sources {
  config(): Config;
  server(name: string): Server;
  nextId(): string;
  fault(error: unknown): Failure;
  readonly counter: Counter;
}

const PATH = "/messages/count_tokens";

/** Upstreams that were found not to count; one that changes is met anew with the next configuration. */
const without = new WeakSet<Server>();

/** `POST /v1/messages/count_tokens`: answered by the upstream where it counts, else from our own count. */
export async function countTokens(sources: Sources, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const headers: Record<string, string> = { "x-lastword-request-id": sources.nextId() };
  try {
    const config = sources.config();
    const bytes = await readBody(request, config.limits.maxBodyBytes);
    const asked = messages.read(objectOf(bytes));
    const { alias, upstream } = policyFor(config, asked.model);
    const ask = alias === null ? asked : { ...asked, model: alias, body: { ...asked.body, model: alias } };
    const server = sources.server(upstream.name);
    headers["x-lastword-upstream"] = server.name;
    const { authorization } = credentials(request.headers, server.authorization, config.listen.keys.length > 0);
    const exact = await askedOf(server, server.query(authorization, gone.signal), ask);
    if (exact !== null) {
      sendJson(response, 200, countedTokens(exact), { ...headers, "x-lastword-count-method": "exact" });
      return;
    }
    const target = { upstream: server.name, model: ask.model, bodyBytes: bytes.length };
    const { tokens, bound, method } = await sources.counter.count(messages.pieces(ask.body), target);
    headers["x-lastword-count-method"] = method === "estimate" ? `estimate;bound=${bound}` : method;
    sendJson(response, 200, countedTokens(tokens), headers);
  } catch (error) {
    sendError(response, error instanceof Refused ? error.failure : sources.fault(error), messages, headers);
  }
}

/** The upstream's own count; null: it has none to give. */
async function askedOf(server: Server, query: Query, ask: Ask): Promise<number | null> {
  const dialect = await server.dialect();
  if (!dialect.wires.includes("messages")) return null;
  if (dialect.count !== undefined) {
    const tokens = await dialect.count(query, ask, ask.body);
    if (tokens !== null) return tokens;
  }
  if (without.has(server)) return null;
  const answer = await query("POST", "v1", PATH, ask.body);
  const tokens = asNumber(asObject(answer?.json)?.input_tokens);
  // What it says to a request that is at fault proves nothing; of a path that it does not have, only LM Studio says 200.
  if (tokens === undefined && answer !== null && [200, 404, 405, 501].includes(answer.status)) without.add(server);
  return tokens ?? null;
}
