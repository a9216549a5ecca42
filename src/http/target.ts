import type { IncomingMessage } from "node:http";
import type { Config } from "../config/load.ts";
import { policyFor } from "../config/policy.ts";
import { asObject, asString, parseJson } from "../core/json.ts";
import type { Server } from "../upstream/server.ts";
import { readBody } from "./body.ts";

interface Routes {
  config(): Config;
  server(name: string): Server;
  servers(): readonly Server[];
}

export interface Target {
  readonly server: Server;
  /** Path and query at the upstream. */
  readonly path: string;
  /** The body, where it had to be read to find the model; null: still to be streamed. */
  readonly body: Buffer | null;
}

/** Where a request goes that is passed through: to the upstream that its `model` names, else the first. */
export async function targetOf(routes: Routes, request: IncomingMessage): Promise<Target> {
  const [first] = routes.servers();
  if (first === undefined) throw new Error("a config has at least one upstream");
  const url = request.url ?? "/";
  // With one upstream there is nothing to find out, and the body streams.
  const named = routes.servers().length > 1 ? await modelOf(routes.config(), request) : null;
  const server = named === null ? first : routes.server(policyFor(routes.config(), named.model).upstream.name);
  const path = url.startsWith("/v1/") ? `${server.v1}${url.slice(3)}` : `${server.root}${url}`;
  return { server, path, body: named?.body ?? null };
}

/** The `model` of a JSON body of bearable size; null where there is none to be read. */
async function modelOf(
  config: Config,
  request: IncomingMessage,
): Promise<{ readonly model: string; readonly body: Buffer } | null> {
  const type = request.headers["content-type"] ?? "";
  const size = Number(request.headers["content-length"]);
  if (!type.includes("json") || !(size <= config.limits.maxBodyBytes)) return null;
  const body = await readBody(request, config.limits.maxBodyBytes);
  return { model: asString(asObject(parseJson(body.toString("utf8")))?.model) ?? "", body };
}
