import type { DialectName } from "../upstream/dialect.ts";
import type { FileConfig } from "./schema.ts";

/** A server to send requests to. Secrets are set apart from the URL, so that the URL can be shown anywhere. */
export interface Upstream {
  readonly name: string;
  /** Origin and path up to and with the version segment, without a slash at the end: `http://localhost:1234/v1`. */
  readonly url: string;
  readonly dialect: DialectName | "auto";
  /** Sent as `Authorization: Bearer`; "" means that the client's own is passed on. */
  readonly key: string;
  /** User and password from the URL as `Authorization: Basic` takes them; "" for none. `key` wins over it. */
  readonly basic: string;
  /** Query from the URL, to be added to every request: "" or `?key=...`. A secret. */
  readonly query: string;
}

/** The same as a URL that people gave. */
export function resolveUpstream(given: FileConfig["upstreams"][number]): Upstream {
  const url = new URL(given.url);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    name: given.name,
    url: url.origin + versioned(url.pathname),
    dialect: given.dialect,
    key: given.key,
    basic: credentials === ":" ? "" : Buffer.from(credentials).toString("base64"),
    query: url.search,
  };
}

/** What is wrong with a base URL, or null. The answer never quotes it. */
export function urlProblem(text: string): { readonly expected: string; readonly nearest: string | null } | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const guess = `http://${text}`;
    const bare = /^[\w.-]+(:\d+)?(\/[\w./-]*)?$/.test(text) && URL.canParse(guess);
    return { expected: "an http:// or https:// URL", nearest: bare ? guess : null };
  }
  if (!decodes(url.username) || !decodes(url.password)) {
    return { expected: "credentials in which % is written as %25", nearest: null };
  }
  const endpoint = /\/(chat\/completions|completions|responses|messages|models)\/*$/.exec(url.pathname);
  if (endpoint !== null) {
    const base = url.origin + url.pathname.slice(0, endpoint.index);
    return { expected: "a base URL, without the endpoint's own path", nearest: base };
  }
  return null;
}

/** `/v1` is added only if no segment starts with `v` and a digit. */
function versioned(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  return /\/v\d/.test(trimmed) ? trimmed : `${trimmed}/v1`;
}

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
