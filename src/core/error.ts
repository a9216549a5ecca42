/** Every error that lastword itself answers with. Codes, statuses and types are the contract's table. */
export const ERRORS = {
  context_length_exceeded: { status: 400, type: "invalid_request_error" },
  invalid_request: { status: 400, type: "invalid_request_error" },
  unauthorized: { status: 401, type: "authentication_error" },
  host_not_allowed: { status: 403, type: "permission_error" },
  origin_not_allowed: { status: 403, type: "permission_error" },
  not_found: { status: 404, type: "not_found_error" },
  wire_not_supported: { status: 404, type: "not_found_error" },
  request_too_large: { status: 413, type: "invalid_request_error" },
  idempotency_conflict: { status: 422, type: "invalid_request_error" },
  overloaded: { status: 429, type: "rate_limit_error" },
  not_supported: { status: 501, type: "not_supported_error" },
  output_cap_exhausted: { status: 502, type: "upstream_error" },
  upstream_unreachable: { status: 502, type: "upstream_error" },
  upstream_protocol_error: { status: 502, type: "upstream_error" },
  upstream_error: { status: 502, type: "upstream_error" },
  upstream_stalled: { status: 504, type: "timeout_error" },
  deadline_exceeded: { status: 504, type: "timeout_error" },
  insufficient_remaining_time: { status: 504, type: "timeout_error" },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** Numbers and names; never content or keys. */
export type Facts = Readonly<Record<string, number | string | boolean | null | readonly (number | string | null)[]>>;

/** A typed end of a request, decided by lastword and told in the wire's own shape. */
export interface Failure {
  readonly code: ErrorCode;
  /** For people; holds numbers and names, never content or keys. */
  readonly message: string;
  readonly param: string | null;
  readonly facts: Facts;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number;
  /** Where it stands in for an upstream's own answer, that answer's status. */
  readonly status?: number;
}

export function failure(code: ErrorCode, message: string, facts: Facts = {}, param: string | null = null): Failure {
  return { code, message, param, facts };
}

/** The client has left: there is nobody to be told anything. */
export class Left extends Error {
  constructor() {
    super("client left");
    this.name = "Left";
  }
}

/** What lastword could not serve at all was rejected; what an upstream or lastword itself failed at has failed. */
export function outcomeOf(refusal: Failure): "rejected" | "failed" {
  return ERRORS[refusal.code].status < 500 ? "rejected" : "failed";
}

/** Thrown by readers of a request; carries what the client is told. */
export class Refused extends Error {
  readonly failure: Failure;
  /** Headers that the refusal carries beside those of every response. */
  readonly headers: Readonly<Record<string, string>>;
  constructor(refusal: Failure, headers: Readonly<Record<string, string>> = {}) {
    super(refusal.message);
    this.name = "Refused";
    this.failure = refusal;
    this.headers = headers;
  }
}
