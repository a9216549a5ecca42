import { clockFinding } from "../check/clock.ts";
import { type Finding, finding } from "../check/finding.ts";
import { modelFindings, type SeenModel } from "../check/models.ts";
import { type Asked, isList, type Knock, keyFinding, reachFinding } from "../check/reach.ts";
import type { UpstreamReport } from "../check/report.ts";
import { SERVER_NAMES } from "../check/servers.ts";
import { type Settings, settingsOf } from "../check/settings.ts";
import type { Config, Loaded } from "../config/load.ts";
import { isLoopback } from "../config/loopback.ts";
import type { Upstream } from "../config/upstream.ts";
import { asArray, asObject } from "../core/json.ts";
import type { Client } from "../upstream/client.ts";
import { detect } from "../upstream/detect.ts";
import type { Dialect } from "../upstream/dialect.ts";
import { hostOf } from "../upstream/generic/hosts.ts";
import { Server } from "../upstream/server.ts";
import { keyState } from "./check-key.ts";
import { type Eyes, lookAtModels } from "./check-models.ts";
import { knockAt } from "./knock.ts";

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
  const { config, client, windows, platform } = visitor;
  const server = new Server(upstream, client);
  const settings = settingsOf(visitor.sourceOf(["upstreams", index, "url"]));
  const asked = askedOf(upstream, settings, visitor.viaProxy);
  const unseen = { server, asked, dialect: server.dialectNow, seen: [] };
  if (isSelf(config, server.base)) return { ...unseen, findings: [itself(asked)], report: blank(asked, server) };

  const { knock, ms, skew } = await knockAt(server, server.authorization);
  const reach = reachFinding(knock, { ...asked, elsewhere: await elsewhere(server, knock, client) });
  if (knock.kind !== "answer") return { ...unseen, findings: present([reach]), report: blank(asked, server) };

  const dialect = await server.dialect();
  const hosted = isHosted(dialect, server.base);
  const key = await keyState(server, dialect, client);
  const reached: UpstreamReport = {
    ...blank(asked, server),
    reached: true,
    status: knock.status,
    ms,
    dialect: dialect.name,
    dialect_source: sourceOf(upstream, dialect, hosted),
    key,
    clock_skew_seconds: skew,
  };
  const early = [reach, await differs(server, settings), clockFinding(upstream.name, skew, platform)];
  if (reach !== null) return { ...unseen, dialect, findings: present(early), report: reached };

  const refusal = key === "refused" || key === "missing" ? keyFinding(asked, 401) : null;
  const listed = await windows.listed(server, null);
  const seen = await lookAtModels(server, dialect, listed, visitor);
  const names = listed.flatMap((facts) => facts.names);
  const used = isUsed(config, upstream, index);
  const models =
    listed.length === 0 && asArray(asObject(knock.json)?.data).length > 0
      ? [tooSlow(asked, ms)]
      : modelFindings({ name: upstream.name, dialect, hosted, names, models: seen, used, settings });
  return {
    server,
    dialect,
    asked,
    seen,
    findings: present([refusal, ...early, ...models]),
    report: {
      ...reached,
      models: seen.map(({ report }) => report),
      not_routed: listed.filter(({ names: [name = ""] }) => !seen.some(({ report }) => report.name === name)).length,
    },
  };
}

function askedOf(upstream: Upstream, settings: Settings, viaProxy: boolean): Asked {
  return {
    name: upstream.name,
    url: upstream.url,
    dialect: upstream.dialect === "auto" ? null : upstream.dialect,
    hasKey: upstream.key !== "" || upstream.basic !== "",
    behindProxy: viaProxy,
    elsewhere: null,
    settings,
  };
}

/** Nothing is known but what the configuration says. */
function blank({ name, url, dialect, hasKey }: Asked, server: Server): UpstreamReport {
  return {
    name,
    url,
    reached: false,
    status: null,
    ms: null,
    dialect: server.dialectNow.name,
    dialect_source: dialect === null ? "assumed" : "config",
    key: hasKey ? "unknown" : "none",
    clock_skew_seconds: null,
    models: [],
    not_routed: 0,
    probe: null,
  };
}

function present(findings: readonly (Finding | null)[]): Finding[] {
  return findings.filter((one) => one !== null);
}

/** A proxy that asks itself would do so until it has no sockets left. */
function isSelf({ listen }: Config, base: URL): boolean {
  const port = Number(base.port) || (base.protocol === "https:" ? 443 : 80);
  const here = isLoopback(listen.host) || listen.host === "0.0.0.0" || listen.host === "::";
  return here && isLoopback(base.hostname) && port === listen.port;
}

function itself({ name, settings }: Asked): Finding {
  const says = "The upstream is this proxy's own address: it would ask itself.";
  return finding("upstream_is_lastword", name, says, settings.upstream("http://localhost:1234/v1"));
}

function tooSlow({ name, url }: Asked, ms: number): Finding {
  const says = `Its model list came after ${ms} ms, but what it says of its models did not come in time: requests go on without it.`;
  return finding("upstream_silent", name, says, `curl -m 60 ${url}/models`);
}

function isHosted({ name }: Dialect, { hostname }: URL): boolean {
  return name === "openrouter" || name === "openai" || hostOf(hostname) !== null;
}

/** Where APIs have their OpenAI-compatible base. */
const BASES = ["/v1", "/api/v1", "/openai/v1", "/compatible-mode/v1", "/v1beta/openai"];

/** A base on the same host that lists models, where this one does not. */
async function elsewhere(server: Server, knock: Knock, client: Client): Promise<string | null> {
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
