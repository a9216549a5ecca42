import type { Config } from "./config/load.ts";
import { type Policy, policyFor } from "./config/policy.ts";
import type { Ask, Piece } from "./core/ask.ts";
import { Refused } from "./core/error.ts";
import { soon } from "./core/soon.ts";
import { wireFailure } from "./recovery/failures.ts";
import type { Services } from "./services.ts";
import { choose } from "./upstream/choose.ts";
import type { Dialect } from "./upstream/dialect.ts";
import type { Server } from "./upstream/server.ts";
import type { Wire } from "./wire/wire.ts";

/** Where a request is sent, and as what. */
export interface Target {
  readonly policy: Policy;
  readonly ask: Ask;
  readonly server: Server;
  readonly dialect: Dialect;
}

/** Where a model is served, and the request as it is put there. @throws Refused where its upstream does not speak this wire */
export function targetOf(
  services: Services,
  config: Config,
  wire: Wire,
  asked: Ask,
  model: string,
): Target | Promise<Target> {
  const policy = policyFor(config, model);
  const named = policy.alias ?? model;
  const ask =
    named === asked.model ? asked : { ...asked, model: named, body: { ...asked.body, model: named }, verbatim: false };
  const only = policy.upstreams.length === 1;
  const server = only ? services.server(policy.upstream.name) : among(policy.upstreams, services, wire, ask);
  return soon(server.dialect(), (dialect) => {
    if (!dialect.wires.includes(wire.name)) throw new Refused(wireFailure(server.name, wire.name, dialect.wires));
    return { policy, ask, server, dialect };
  });
}

/**
 * The same request at another of the model's upstreams that speaks its wire; null: there is none that was not tried.
 * @param tried names of upstreams, to which those that are looked at here are added
 */
export async function targetElsewhere(
  services: Services,
  wire: Wire,
  target: Target,
  tried: Set<string>,
): Promise<Target | null> {
  for (;;) {
    const [first, ...others] = target.policy.upstreams.filter(({ name }) => !tried.has(name));
    if (first === undefined) return null;
    const server = among([first, ...others], services, wire, target.ask);
    tried.add(server.name);
    const dialect = await server.dialect();
    if (dialect.wires.includes(wire.name)) return { ...target, server, dialect };
  }
}

function among(upstreams: Policy["upstreams"], services: Services, wire: Wire, ask: Ask): Server {
  const [first, ...others] = upstreams;
  const servers = [services.server(first.name), ...others.map(({ name }) => services.server(name))] as const;
  const now = performance.now();
  const server = choose(servers, beginningOf(wire.pieces(ask.body)), now);
  server.health.tried(now);
  return server;
}

/** Characters: so much tells conversations apart. */
const MOST_BEGINNING = 16_384;

/** What all requests of one conversation have in common: all up to the user's first words. */
function beginningOf(pieces: readonly Piece[]): string {
  const user = pieces.findIndex((piece) => piece.kind === "text" && piece.role === "user" && piece.text !== "");
  return JSON.stringify(pieces.slice(0, Math.max(0, user) + 1)).slice(0, MOST_BEGINNING);
}
