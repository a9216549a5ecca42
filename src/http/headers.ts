import type { IncomingHttpHeaders } from "node:http";

/** Headers of one hop (RFC 9110, 7.6.1), which a proxy must not forward. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

/** Headers of a request that is sent anew, with the body as it stands: these are lastword's to set. */
const SET_ANEW = new Set([
  "content-length",
  "content-encoding",
  "accept-encoding",
  "content-type",
  "accept",
  "idempotency-key",
]);

/** What belongs to the client's own hop or to lastword, never to an upstream. */
const NEVER_SENT = new Set([
  "host",
  "expect",
  "cookie",
  "x-api-key",
  "authorization",
  "origin",
  "referer",
  "forwarded",
]);

function connectionNames(connection: string | string[] | undefined): Set<string> {
  if (connection === undefined) return EMPTY;
  const names = String(connection).toLowerCase();
  if (names === "keep-alive" || names === "close") return EMPTY;
  return new Set(names.split(",").map((name) => name.trim()));
}
const EMPTY: Set<string> = new Set();

/** Names and values in turn: objects with a dozen names or more that come from outside cost many times that. */
export type HeaderList = string[];

/**
 * The client's headers as an upstream may see them. Credentials are the caller's to add: an inbound key is never among them.
 * `anew`: the request is made anew, and what tells of its body, its answer and its key is the caller's to add too.
 */
export function requestHeaders(headers: IncomingHttpHeaders, anew: boolean): HeaderList {
  const named = connectionNames(headers.connection);
  const out: HeaderList = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || HOP_BY_HOP.has(name) || NEVER_SENT.has(name) || named.has(name)) continue;
    if (name.startsWith("x-lastword-") || name.startsWith("x-forwarded-") || name.startsWith("sec-fetch-")) continue;
    if (anew && SET_ANEW.has(name)) continue;
    if (typeof value === "string") out.push(name, value);
    else for (const one of value) out.push(name, one);
  }
  return out;
}

/** An upstream's headers as the client may see them, and lastword's `own`, which win. `rewritten`: the body is written anew. */
export function responseHeaders(
  headers: Record<string, string | string[] | undefined>,
  own: HeaderList,
  rewritten: boolean,
): HeaderList {
  const named = connectionNames(headers.connection);
  const out = [...own];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || HOP_BY_HOP.has(name) || named.has(name)) continue;
    // The upstream's cross-origin rules and cookies are not lastword's; a page must not be let in by them.
    if (name.startsWith("access-control-") || name === "set-cookie" || name === "x-powered-by") continue;
    if (
      rewritten &&
      (name === "content-length" || name === "content-encoding" || name === "content-md5" || name === "etag")
    )
      continue;
    if (names(own, name)) continue;
    if (typeof value === "string") out.push(name, value);
    else for (const one of value) out.push(name, one);
  }
  return out;
}

function names(list: HeaderList, name: string): boolean {
  for (let i = 0; i < list.length; i += 2) if (list[i] === name) return true;
  return false;
}

/** The same as a list. */
export function listOf(headers: Readonly<Record<string, string>>): HeaderList {
  const list: HeaderList = [];
  for (const name in headers) list.push(name, headers[name] ?? "");
  return list;
}

/** The same by name. */
export function byName(list: HeaderList): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) headers[list[i] ?? ""] = list[i + 1] ?? "";
  return headers;
}

/**
 * What a request to the upstream is authorised by: the configured credentials, else the client's own where no inbound keys are in use.
 * `authorization` is for questions of lastword's own within this request.
 */
export function credentials(
  client: IncomingHttpHeaders,
  configured: string | null,
  inboundKeys: boolean,
): { readonly authorization: string | null; readonly headers: HeaderList } {
  if (configured !== null) {
    const key = /^Bearer (.+)$/.exec(configured)?.[1];
    // Anthropic's own servers look for x-api-key only.
    const twice = key !== undefined && client["x-api-key"] !== undefined ? ["x-api-key", key] : [];
    return { authorization: configured, headers: ["authorization", configured, ...twice] };
  }
  if (inboundKeys) return { authorization: null, headers: [] };
  const headers: HeaderList = [];
  const { authorization } = client;
  if (authorization !== undefined) headers.push("authorization", authorization);
  const key = client["x-api-key"];
  if (typeof key === "string") headers.push("x-api-key", key);
  return { authorization: authorization ?? (typeof key === "string" ? `Bearer ${key}` : null), headers };
}
