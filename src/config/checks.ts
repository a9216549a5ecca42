import { asArray, asObject, asString, type Json, type JsonObject } from "../core/json.ts";
import { describe, type Finding } from "./finding.ts";
import { isLoopback } from "./loopback.ts";
import { nearest } from "./nearest.ts";
import type { Path } from "./problem.ts";
import { urlProblem } from "./upstream.ts";

/**
 * Rules that the schema cannot say: between keys, and on the inside of texts. They read the tree as it was given, whether or not
 * the schema is content with it, so that one run tells everything.
 */
export function crossCheck(tree: JsonObject): Finding[] {
  return [
    ...upstreams(tree),
    ...models(tree),
    ...routes(tree),
    ...names(tree),
    ...state(asObject(tree.state) ?? {}),
    ...exposure(tree),
  ];
}

function upstreams(tree: JsonObject): Finding[] {
  const found: Finding[] = [];
  const seen = new Set<string>();
  for (const [index, upstream] of asArray(tree.upstreams).entries()) {
    const name = asString(asObject(upstream)?.name);
    if (name !== undefined && seen.has(name)) {
      found.push(finding(["upstreams", index, "name"], name, "a name that no other upstream has"));
    }
    if (name !== undefined) seen.add(name);
    const url = asString(asObject(upstream)?.url);
    const wrong = url === undefined || url === "" ? null : urlProblem(url);
    if (wrong !== null) found.push(finding(["upstreams", index, "url"], url, wrong.expected, wrong.nearest));
  }
  return found;
}

function models(tree: JsonObject): Finding[] {
  const known = asArray(tree.upstreams).flatMap((upstream) => asString(asObject(upstream)?.name) ?? []);
  return asArray(tree.models).flatMap((rule, index) => {
    const given = asObject(rule)?.upstream;
    const path = ["models", index, "upstream"];
    const named: [Path, Json][] = Array.isArray(given)
      ? given.map((one, place) => [[...path, place], one])
      : [[path, given ?? null]];
    return named.flatMap(([at, one], place) => {
      const name = asString(one);
      if (name === undefined || name === "") return [];
      if (!known.includes(name)) return [finding(at, name, "the name of one of the upstreams", nearest(name, known))];
      const twice = named.findIndex(([, other]) => other === one) < place;
      return twice ? [finding(at, name, "a name that does not stand in the list already")] : [];
    });
  });
}

function routes(tree: JsonObject): Finding[] {
  const shared = asObject(tree.budget) ?? {};
  const rules = asArray(tree.models).map((rule) => asObject(rule) ?? {});
  const places: [Path, JsonObject][] = [[["budget"], shared]];
  for (const [index, rule] of rules.entries()) places.push([["models", index], { ...shared, ...rule }]);
  return places.flatMap(([path, settings]) => {
    const own = path.length === 1 || rules[Number(path[1])]?.overflow === "route";
    const needs = own && settings.overflow === "route" && (asString(settings.overflowModel) ?? "") === "";
    return needs ? [finding([...path, "overflowModel"], undefined, "a model name, since overflow is route")] : [];
  });
}

function names(tree: JsonObject): Finding[] {
  const listen = asObject(tree.listen) ?? {};
  const hosts = asArray(listen.allowedHosts).flatMap((host, index) => {
    if (typeof host !== "string" || host === "" || /^(\*\.)?[\w.-]+$|^\[?[0-9a-f:.]+\]?$/i.test(host)) return [];
    return [finding(["listen", "allowedHosts", index], host, "a host name without scheme, port or path")];
  });
  const origins = asArray(listen.allowedOrigins).flatMap((origin, index) => {
    if (typeof origin !== "string" || origin === "" || origin === "*") return [];
    const exact = URL.canParse(origin) ? new URL(origin).origin : "null";
    if (exact === origin) return [];
    const close = exact === "null" ? null : exact;
    return [
      finding(["listen", "allowedOrigins", index], origin, "an origin such as https://app.example.org, or *", close),
    ];
  });
  return [...hosts, ...origins];
}

function state(settings: JsonObject): Finding[] {
  const redis = asString(settings.redis) ?? "";
  if (redis === "") return [];
  const found: Finding[] = [];
  if (!URL.canParse(redis) || !["redis:", "rediss:"].includes(new URL(redis).protocol)) {
    found.push(finding(["state", "redis"], redis, "a redis:// or rediss:// URL"));
  }
  if (settings.replays === true && (asString(settings.replayKey) ?? "") === "") {
    found.push(finding(["state", "replayKey"], undefined, "a secret, since shared replays are encrypted with it"));
  }
  return found;
}

/** Whoever reaches the port spends the upstream's key. */
function exposure(tree: JsonObject): Finding[] {
  if (asObject(tree.runtime)?.allowOpen === true) return [];
  const listen = asObject(tree.listen) ?? {};
  const host = asString(listen.host);
  if (host === undefined || host === "" || isLoopback(host) || asArray(listen.keys).length > 0) return [];
  if (!asArray(tree.upstreams).some(holdsKey)) return [];
  const expected =
    "a loopback address, or keys in listen.keys, or --allow-open, since an upstream key is set and anyone who reaches this address could spend it";
  return [finding(["listen", "host"], host, expected)];
}

function holdsKey(upstream: Json): boolean {
  const given = asObject(upstream) ?? {};
  const url = asString(given.url) ?? "";
  return (asString(given.key) ?? "") !== "" || /[@?]/.test(url);
}

function finding(path: Path, value: unknown, expected: string, close: string | null = null): Finding {
  return { path, expected, found: describe(value, path), nearest: close };
}
