import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import type { Config } from "../config/load.ts";
import { isLoopback } from "../config/loopback.ts";
import { type Failure, failure } from "../core/error.ts";
import { shown } from "../events/names.ts";

interface Incoming {
  readonly method: string;
  /** As `cleanPath` gives it. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Who may call. Made once per configuration. */
export interface Guard {
  /** Why this request is turned away, or null. A preflight that passes is to be answered with 204 and `cors`. */
  check(request: Incoming): Failure | null;
  isPreflight(request: Incoming): boolean;
  /** Headers for every answer to this request, refusals too. */
  cors(request: Incoming): Readonly<Record<string, string>>;
  /** Who calls, as a hash: by the inbound key where keys are needed, else by the client's own credentials; "" for nobody. */
  caller(headers: IncomingHttpHeaders): string;
}

/** Probes need no key, nor do the files of the page that asks for one: they are the same for everybody. */
const OPEN_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/dashboard/page.js", "/dashboard/page.css"]);

export function createGuard(listen: Config["listen"]): Guard {
  const keys = listen.keys.map(digest);
  const local = isLoopback(listen.host);
  const hosts = listen.allowedHosts.map((host) => bareHost(host) ?? host.toLowerCase());
  const origins = new Set(listen.allowedOrigins);

  /** The host that was allowed last: nearly always it is named again. */
  let known: string | null = null;

  function hostAllowed(host: string): boolean {
    if (host === known) return true;
    const allowed = isAllowed(bareHost(host));
    if (allowed) known = host;
    return allowed;
  }

  function isAllowed(name: string | null): boolean {
    if (name === null) return false;
    // Names that no foreign DNS can give out cannot be used for rebinding.
    if (isLoopback(name) || name.endsWith(".localhost")) return true;
    if (local && name === "host.docker.internal") return true;
    if (hosts.length === 0) return !local;
    return hosts.some((allowed) => within(name, allowed)) || (!local && isIP(name) !== 0);
  }

  const listed = (origin: string) => origins.has("*") || origins.has(origin);

  function originFailure({ method, path, headers }: Incoming): Failure | null {
    const { origin, host = "" } = headers;
    if (origin !== undefined) {
      if (listed(origin) || isOwn(origin, host)) return null;
      const facts = { origin: shown(origin) };
      const message = `Pages of ${facts.origin} may not call this proxy. To allow them, add the origin to listen.allowedOrigins.`;
      return failure("origin_not_allowed", message, facts);
    }
    if (headers["sec-fetch-site"] !== "cross-site") return null;
    // A link to the dashboard on another site may be followed.
    if (
      method === "GET" &&
      path === "/" &&
      headers["sec-fetch-mode"] === "navigate" &&
      headers["sec-fetch-dest"] === "document"
    ) {
      return null;
    }
    return failure("origin_not_allowed", "Pages of other sites may not call this proxy.");
  }

  /** Every key is compared, whether or not one has matched: the time tells nothing. */
  function matchedKey(headers: IncomingHttpHeaders): string | null {
    let matched: string | null = null;
    for (const presented of presentedKeys(headers)) {
      const hash = digest(presented);
      for (const key of keys) if (timingSafeEqual(key, hash)) matched = hash.toString("hex");
    }
    return matched;
  }

  const isPreflight = ({ method, headers }: Incoming) =>
    method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

  return {
    check(request) {
      const { host } = request.headers;
      if (host !== undefined && !hostAllowed(host)) {
        const facts = { host: shown(host) };
        const message = `The host name ${facts.host} is not one of this proxy's. To allow it, add it to listen.allowedHosts.`;
        return failure("host_not_allowed", message, facts);
      }
      const foreign = originFailure(request);
      if (foreign !== null) return foreign;
      // A browser sends no key with a preflight.
      if (keys.length === 0 || OPEN_PATHS.has(request.path) || isPreflight(request)) return null;
      if (matchedKey(request.headers) !== null) return null;
      const given = presentedKeys(request.headers).length > 0 ? "The key given is not one of them." : "None was given.";
      return failure("unauthorized", `This proxy needs a key, as Authorization: Bearer or x-api-key. ${given}`);
    },
    isPreflight,
    cors(request) {
      const { origin } = request.headers;
      if (origin === undefined || !listed(origin)) return {};
      const common = { "access-control-allow-origin": origin, "access-control-expose-headers": "*", vary: "origin" };
      return isPreflight(request) ? { ...common, ...preflightHeaders(request.headers) } : common;
    },
    caller(headers) {
      if (keys.length > 0) return matchedKey(headers) ?? "";
      const own = headers.authorization ?? headers["x-api-key"];
      return typeof own === "string" ? digest(own).toString("hex") : "";
    },
  };
}

function preflightHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const asked = headers["access-control-request-headers"];
  return {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
    // Named one by one, since a wildcard does not cover Authorization.
    ...(asked === undefined ? {} : { "access-control-allow-headers": asked }),
    ...(headers["access-control-request-private-network"] === "true"
      ? { "access-control-allow-private-network": "true" }
      : {}),
    "access-control-max-age": "600",
  };
}

/** The host's name in lower case, without port, brackets or the root's dot; null where it is no host. */
function bareHost(host: string): string | null {
  const found = /^(?:\[([0-9a-f:.]+)\]|([\w.*-]+))(?::\d{1,5})?$/i.exec(host);
  if (found === null) return isIP(host) === 6 ? host.toLowerCase() : null;
  return (found[1] ?? found[2] ?? "").toLowerCase().replace(/\.$/, "");
}

/** `*.example.org` holds for every name below it, not for itself. */
function within(name: string, allowed: string): boolean {
  return allowed.startsWith("*.") ? name.endsWith(allowed.slice(1)) : name === allowed;
}

/** A page that this proxy served itself, also behind something that ends TLS. */
function isOwn(origin: string, host: string): boolean {
  return URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).host === host.toLowerCase();
}

function presentedKeys(headers: IncomingHttpHeaders): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
  return [bearer, headers["x-api-key"]].filter((key) => typeof key === "string" && key !== "") as string[];
}

/** Hashes are of one length, as comparing in constant time demands, and hold no key. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
