import type { IncomingMessage } from "node:http";
import type { Config } from "../config/load.ts";
import { policyFor } from "../config/policy.ts";
import type { Server } from "../upstream/server.ts";
import { namedModel } from "./named-model.ts";

export interface Routes {
  config(): Config;
  server(name: string): Server;
  servers(): readonly Server[];
}

export interface Target {
  readonly server: Server;
  /** Path and query at the upstream. */
  readonly path: string;
  /** The whole body, where it was read to its end to find the model; null: the request still has all of it. */
  readonly body: Buffer | null;
}

/** Where a request goes that is passed through: to the upstream that its `model` names, else the first. */
export async function targetOf(routes: Routes, request: IncomingMessage): Promise<Target> {
  const [first] = routes.servers();
  if (first === undefined) throw new Error("a config has at least one upstream");
  const url = request.url ?? "/";
  // With one upstream there is nothing to find out, and the body streams.
  const named = routes.servers().length > 1 ? await namedModel(request, routes.config().limits.maxBodyBytes) : null;
  const server =
    named === null || named.model === null
      ? first
      : routes.server(policyFor(routes.config(), named.model).upstream.name);
  const path = url.startsWith("/v1/") ? `${server.v1}${url.slice(3)}` : `${server.root}${url}`;
  return { server, path, body: named?.body ?? null };
}
