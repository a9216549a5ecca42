import { clockFinding } from "../check/clock.ts";
import { type Finding, finding } from "../check/finding.ts";
import { modelFindings, type SeenModel } from "../check/models.ts";
import { type Asked, isList, keyFinding, reachFinding } from "../check/reach.ts";
import type { UpstreamReport } from "../check/report.ts";
import { SERVER_NAMES } from "../check/servers.ts";
import { type Settings, settingsOf } from "../check/settings.ts";
import type { Config, Loaded } from "../config/load.ts";
import { isLoopback } from "../config/loopback.ts";
import type { Upstream } from "../config/upstream.ts";
import type { Client } from "../upstream/client.ts";
import { detect } from "../upstream/detect.ts";
import type { Dialect } from "../upstream/dialect.ts";
import { hostOf } from "../upstream/generic/hosts.ts";
import { Server } from "../upstream/server.ts";
import { keyState } from "./check-key.ts";
import { type Eyes, lookAtModels } from "./check-models.ts";
import { type Knocked, knockAt } from "./knock.ts";

/** What looking at an upstream needs. */
export interface Visitor extends Eyes {
  readonly sourceOf: Loaded["sourceOf"];
  readonly client: Client;
  readonly viaProxy: boolean;
  readonly platform: NodeJS.Platform;
}

/** One upstream as it was found, without a probe. */
export interface Visited {
  readonly server: Server;
  readonly dialect: Dialect;
  readonly asked: Asked;
  readonly report: UpstreamReport;
  readonly seen: readonly SeenModel[];
  readonly findings: readonly Finding[];
}

/** Looks at the `index`-th upstream, by questions that generate nothing. */
export async function visit(upstream: Upstream, index: number, visitor: Visitor): Promise<Visited> {
  const server = new Server(upstream, visitor.client);
  const settings = settingsOf(visitor.sourceOf(["upstreams", index, "url"]));
  if (isSelf(visitor.config, server.base)) return itself(server, askedOf(upstream, settings, visitor, null));

  const knocked = await knockAt(server, server.authorization);
  const found = await elsewhere(server, knocked, visitor.client);
  const asked = askedOf(upstream, settings, visitor, found);
  const reach = reachFinding(knocked.knock, asked);
  if (knocked.knock.kind !== "answer") return unreached(server, asked, knocked, reach);

  const dialect = await server.dialect();
  const key = await keyState(server, dialect, visitor.client);
  const refusal = reach === null && (key === "refused" || key === "missing") ? keyFinding(asked, 401) : null;
  const listed = reach === null ? await visitor.windows.listed(server, null) : [];
  const seen = reach === null ? await lookAtModels(server, dialect, listed, visitor) : [];
  const names = listed.flatMap((facts) => facts.names);
  const models = {
    name: upstream.name,
    dialect,
    hosted: dialect.name === "openrouter" || dialect.name === "openai" || hostOf(server.base.hostname) !== null,
    names,
    models: seen,
    used: isUsed(visitor.config, upstream, index),
    settings,
  };
  const findings = [
    reach ?? refusal,
    await differs(server, settings),
    clockFinding(upstream.name, knocked.skew, visitor.platform),
    ...(reach === null ? modelFindings(models) : []),
  ];
  return {
    server,
    dialect,
    asked,
    seen,
    findings: findings.filter((one) => one !== null),
    report: {
      name: upstream.name,
      url: upstream.url,
      reached: true,
      status: knocked.knock.status,
      ms: knocked.ms,
      dialect: dialect.name,
      dialect_source: sourceOf(upstream, dialect, models.hosted),
      key,
      clock_skew_seconds: knocked.skew,
      models: seen.map(({ report }) => report),
      not_routed: listed.filter(({ names: [name = ""] }) => !seen.some(({ report }) => report.name === name)).length,
      probe: null,
    },
  };
}

function askedOf(upstream: Upstream, settings: Settings, { viaProxy }: Visitor, found: string | null): Asked {
  return {
    name: upstream.name,
    url: upstream.url,
    dialect: upstream.dialect === "auto" ? null : upstream.dialect,
    hasKey: upstream.key !== "" || upstream.basic !== "",
    behindProxy: viaProxy,
    elsewhere: found,
    settings,
  };
}

/** A proxy that asks itself would do so until it has no sockets left. */
function isSelf({ listen }: Config, base: URL): boolean {
  const port = Number(base.port) || (base.protocol === "https:" ? 443 : 80);
  const here = isLoopback(listen.host) || listen.host === "0.0.0.0" || listen.host === "::";
  return here && isLoopback(base.hostname) && port === listen.port;
}

function itself(server: Server, asked: Asked): Visited {
  const says = "The upstream is this proxy's own address: it would ask itself.";
  const fix = asked.settings.upstream("http://localhost:1234/v1");
  const wrong = finding("upstream_is_lastword", server.name, says, fix);
  return unreached(server, asked, null, wrong);
}

function unreached(server: Server, asked: Asked, knocked: Knocked | null, why: Finding | null): Visited {
  const dialect = server.dialectNow;
  return {
    server,
    dialect,
    asked,
    seen: [],
    findings: why === null ? [] : [why],
    report: {
      name: server.name,
      url: asked.url,
      reached: false,
      status: null,
      ms: null,
      dialect: dialect.name,
      dialect_source: asked.dialect === null ? "assumed" : "config",
      key: asked.hasKey ? "unknown" : "none",
      clock_skew_seconds: knocked?.skew ?? null,
      models: [],
      not_routed: 0,
      probe: null,
    },
  };
}

/** Where APIs have their OpenAI-compatible base. */
const BASES = ["/v1", "/api/v1", "/openai/v1", "/compatible-mode/v1", "/v1beta/openai"];

/** A base on the same host that lists models, where this one does not. */
async function elsewhere(server: Server, { knock }: Knocked, client: Client): Promise<string | null> {
  if (knock.kind !== "answer" || knock.status >= 500 || isList(knock.json)) return null;
  const { origin, pathname } = server.base;
  for (const path of BASES.filter((base) => base !== pathname)) {
    const other = new Server({ ...server.config, url: origin + path }, client);
    const answer = await other.query()("GET", "v1", "/models");
    if (isList(answer?.json)) return origin + path;
  }
  return null;
}

function sourceOf(upstream: Upstream, dialect: Dialect, hosted: boolean): UpstreamReport["dialect_source"] {
  if (upstream.dialect !== "auto") return "config";
  return dialect.name === "generic" && !hosted ? "assumed" : "detected";
}

/** A dialect by order is believed; that its answers look like another's is worth a word. */
async function differs(server: Server, settings: Settings): Promise<Finding | null> {
  const said = server.config.dialect;
  if (said === "auto") return null;
  const { dialect } = await detect(server.query(), server.base);
  if (dialect === said || dialect === "generic") return null;
  const says = `It is configured as ${SERVER_NAMES[said]}, but answers like ${SERVER_NAMES[dialect]}: windows, caps and continuation are handled the wrong way.`;
  return finding("dialect_differs", server.name, says, settings.dialect(dialect));
}

/** The first upstream serves what no rule matches. */
function isUsed({ models }: Config, { name }: Upstream, index: number): boolean {
  return index === 0 || models.some(({ upstream }) => upstream === name);
}
