import { type Failure, failure } from "../core/error.ts";

/**
 * Why a call ended without a whole answer.
 * - `unreachable`: no connection (refused, DNS, connect time-out)
 * - `untrusted`: TLS could not be agreed on, or its certificate is not believed; asking again changes nothing
 * - `garbled`: what came is not HTTP
 * - `lost`: the socket died
 */
export interface Loss {
  readonly kind: "unreachable" | "untrusted" | "garbled" | "lost";
  /** Some byte of an answer had come. */
  readonly answered: boolean;
  /** A short system code such as ECONNREFUSED; never a URL or content. */
  readonly code: string;
}

/** What a loss is to the client. */
export function lossFailure(
  { name, place }: { readonly name: string; readonly place: string },
  { kind, code }: Pick<Loss, "kind" | "code">,
): Failure {
  const facts = { reason: code };
  switch (kind) {
    case "unreachable":
      return failure(
        "upstream_unreachable",
        `The upstream ${name} at ${place} cannot be reached (${code}). Is it running, is the port right? lastword check tells more.`,
        facts,
      );
    case "untrusted":
      return failure(
        "upstream_unreachable",
        `The upstream ${name} at ${place} is not trusted (${code}). For a certificate of your own, set NODE_EXTRA_CA_CERTS to the file of its authority.`,
        facts,
      );
    case "garbled":
      return failure("upstream_protocol_error", `The upstream ${name} sent what is not HTTP (${code}).`, facts);
    case "lost":
      return failure(
        "upstream_error",
        `The upstream ${name} closed the connection before its reply was whole (${code}).`,
        facts,
      );
    default:
      return kind satisfies never;
  }
}

const NO_CONNECTION: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "ENETDOWN",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Node's names for what OpenSSL says of a certificate or a handshake (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const TLS =
  /^(?:CERT_|CRL_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERROR_IN_CERT|INVALID_|PATH_LENGTH|HOSTNAME_MISMATCH|EPROTO$|UND_ERR_PRX_TLS$)/;

/** undici's names for an answer that breaks HTTP. */
const NOT_HTTP = /^(?:HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$)/;

export function lossOf(error: Error, answered: boolean): Loss {
  const code = codeOf(error);
  return { kind: kindOf(error, code), answered, code };
}

function kindOf(error: Error, code: string): Loss["kind"] {
  if (NO_CONNECTION.has(code) || error.name === "ConnectTimeoutError") return "unreachable";
  if (TLS.test(code)) return "untrusted";
  return NOT_HTTP.test(code) ? "garbled" : "lost";
}

function codeOf(error: Error): string {
  const own = (error as { code?: unknown }).code;
  const inner = (error as { cause?: { code?: unknown } }).cause?.code;
  const all = (error as { errors?: { code?: unknown }[] }).errors?.[0]?.code;
  for (const code of [inner, own, all]) if (typeof code === "string") return code;
  return error.name;
}
