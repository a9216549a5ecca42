import { isLoopback } from "../config/loopback.ts";
import { asArray, asObject, asString } from "../core/json.ts";
import type { DialectName } from "../upstream/dialect.ts";
import { type Finding, finding } from "./finding.ts";
import { localServer, SERVER_NAMES, usualAt } from "./servers.ts";
import type { Settings } from "./settings.ts";

/** What came of asking an upstream for its model list. */
export type Knock =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** undefined: not JSON. */
      readonly json: unknown;
      readonly html: boolean;
      /** Of a redirect, resolved; else null. */
      readonly location: string | null;
    }
  | { readonly kind: "lost"; readonly code: string }
  | { readonly kind: "silent"; readonly seconds: number };

/** The upstream that was asked, and all that is known of it apart from its answer. */
export interface Asked {
  readonly name: string;
  /** Base with its version segment, without credentials and query. */
  readonly url: string;
  /** By order; null: to be found out. */
  readonly dialect: DialectName | null;
  readonly hasKey: boolean;
  /** Requests to it go through the proxy of the environment. */
  readonly behindProxy: boolean;
  /** A base on the same host that does list models; null: none was found. */
  readonly elsewhere: string | null;
  readonly settings: Settings;
}

/** Why there is no model list, or null where there is one. */
export function reachFinding(knock: Knock, asked: Asked): Finding | null {
  const ours = behindProxy(knock, asked);
  if (ours !== null) return ours;
  switch (knock.kind) {
    case "lost":
      return lost(knock.code, asked);
    case "silent":
      return finding(
        "upstream_silent",
        asked.name,
        `${placeOf(asked)} gave no answer within ${knock.seconds} s: it is busy, still starting, or a firewall drops what is sent to it.`,
        `curl -m 60 ${asked.url}/models`,
      );
    case "answer":
      return answered(knock, asked);
    default:
      return knock satisfies never;
  }
}

/** Local servers are rarely meant to be reached through the company's proxy. */
function behindProxy(knock: Knock, asked: Asked): Finding | null {
  const { hostname } = new URL(asked.url);
  const wrong = knock.kind !== "answer" || (knock.status >= 500 && knock.json === undefined) || knock.html;
  if (!asked.behindProxy || !isLoopback(hostname) || !wrong) return null;
  return finding(
    "upstream_behind_proxy",
    asked.name,
    `HTTP_PROXY or HTTPS_PROXY is set, so ${placeOf(asked)} is asked through that proxy, which does not reach it.`,
    "NO_PROXY=localhost,127.0.0.1,::1",
  );
}

function lost(code: string, asked: Asked): Finding {
  const { name, url, settings } = asked;
  const { protocol } = new URL(url);
  const place = placeOf(asked);
  if (code === "ECONNREFUSED") return refused(asked);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return finding(
      "upstream_unknown_host",
      name,
      `Nobody knows a host named ${new URL(url).hostname} (${code}).`,
      settings.upstream(url.replace(new URL(url).hostname, "ADDRESS_OF_THE_SERVER")),
    );
  if (NOT_TLS.test(code))
    return finding(
      "upstream_not_tls",
      name,
      `${place} does not speak TLS (${code}): it is an http:// server.`,
      settings.upstream(url.replace(/^https:/, "http:")),
    );
  if (CERTIFICATE.test(code))
    return finding(
      "upstream_certificate",
      name,
      `The certificate of ${place} is not trusted here (${code}).`,
      "NODE_EXTRA_CA_CERTS=PATH_OF_ITS_CA.pem",
    );
  const closed = code === "UND_ERR_SOCKET" || code === "ECONNRESET";
  if (closed && protocol === "http:")
    return finding(
      "upstream_unreachable",
      name,
      `${place} closes the connection without an answer (${code}): it may want https.`,
      settings.upstream(url.replace(/^http:/, "https:")),
    );
  return finding(
    "upstream_unreachable",
    name,
    `${place} cannot be reached (${code}): no way leads there, or a firewall is in it.`,
    `curl -v -m 20 ${url}/models`,
  );
}

const NOT_TLS = /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

/** The port tells what was to be started there, if the configuration does not. */
function refused(asked: Asked): Finding {
  const { port, hostname, protocol } = new URL(asked.url);
  const number = Number(port) || (protocol === "https:" ? 443 : 80);
  const dialect = asked.dialect ?? usualAt(number);
  const server = dialect === null ? null : localServer(dialect);
  const there = isLoopback(hostname) ? "" : ` on ${hostname}`;
  const says = `Nothing listens at ${placeOf(asked)}`;
  if (dialect === null || server === null)
    return finding(
      "upstream_refused",
      asked.name,
      `${says}: the server is not running, or it listens at another port.`,
      asked.settings.upstream("http://localhost:1234/v1"),
    );
  return finding(
    "upstream_refused",
    asked.name,
    `${says}, where ${SERVER_NAMES[dialect]} would be: it is not running${there}, or its server is switched off.`,
    server.start(number),
  );
}

function answered(knock: Extract<Knock, { kind: "answer" }>, asked: Asked): Finding | null {
  const { status, json } = knock;
  const { name, url, settings } = asked;
  const place = placeOf(asked);
  if (status === 401 || status === 403) return keyFinding(asked, status);
  if (knock.location !== null)
    return finding(
      "upstream_redirects",
      name,
      `${place} sends on to another place (status ${status}), and redirects are not followed.`,
      settings.upstream(knock.location.replace(/\/models\/?$/, "")),
    );
  if (status === 503 && asString(asObject(asObject(json)?.error)?.message) === "Loading model")
    return finding("upstream_loading", name, `${place} is still loading its model.`, "lastword check");
  if (status === 200 && isList(json)) return null;
  if (status >= 500 || ![200, 400, 404, 405].includes(status))
    return finding(
      "upstream_failing",
      name,
      `${place} answers its model list with status ${status}: the server itself is in trouble, its log tells why.`,
      `curl -i ${url}/models`,
    );
  return finding(
    "upstream_wrong_path",
    name,
    `${whatAnswers(knock, place)} ${pathHint(asked)}`,
    settings.upstream(asked.elsewhere ?? `${new URL(url).origin}/v1`),
  );
}

function whatAnswers({ status, json, html }: Extract<Knock, { kind: "answer" }>, place: string): string {
  if (html) return `A web page answers at ${place}, not an API.`;
  // LM Studio answers 200 to whatever it does not know.
  if (asString(asObject(json)?.error)?.startsWith("Unexpected endpoint") === true)
    return `LM Studio answers at ${place}, but it does not know this path (its status 200 means nothing).`;
  if (Array.isArray(asObject(json)?.models))
    return `The URL leads into the server's own API at ${place}, not into its OpenAI one.`;
  return `There is no model list at ${place} (status ${status}).`;
}

function pathHint({ url, elsewhere }: Asked): string {
  if (elsewhere !== null) return `There is one at ${elsewhere}/models.`;
  return `The base URL is all that comes before /models; here that is ${url}.`;
}

/** Whether it is an OpenAI-style list of models. */
export function isList(json: unknown): boolean {
  const data = asObject(json)?.data;
  return Array.isArray(data) && asArray(data).every((item) => typeof asObject(item)?.id === "string");
}

/** The server wants a key: none is configured, or it does not take the one that is. */
export function keyFinding(asked: Asked, status: number): Finding {
  const { name, settings, hasKey } = asked;
  const place = placeOf(asked);
  if (hasKey)
    return finding(
      "key_refused",
      name,
      `${place} does not take the configured key (status ${status}).`,
      settings.key(),
    );
  return finding(
    "key_missing",
    name,
    `${place} asks for a key, and none is configured (status ${status}). Clients that send their own get through, but nothing can be looked up for them here.`,
    settings.key(),
  );
}

function placeOf({ url }: Pick<Asked, "url">): string {
  return new URL(url).host;
}
