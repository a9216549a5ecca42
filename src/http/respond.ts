import type { ServerResponse } from "node:http";
import { ERRORS, type Failure } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";
import { DONE, dataEvent, namedEvent } from "../wire/sse.ts";
import type { Outlet } from "./outlet.ts";

/** Anything that can put a failure into a client's own shape. */
interface Shape {
  error(failure: Failure): JsonObject;
}

/** A typed error as a whole HTTP answer; the connection is closed where the request was not read to its end. */
export function sendError(
  response: ServerResponse,
  refusal: Failure,
  shape: Shape,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const unread = !response.req.complete;
  response.writeHead(refusal.status ?? ERRORS[refusal.code].status, {
    "content-type": "application/json",
    ...(refusal.retryAfter === undefined ? {} : { "retry-after": String(refusal.retryAfter) }),
    ...(unread ? { connection: "close" } : {}),
    ...headers,
  });
  response.end(JSON.stringify(shape.error(refusal)));
}

/** The same through an outlet, for a request that was read to its end; in a stream that has begun, as its last event. */
export function answer(outlet: Outlet, refusal: Failure, shape: Shape, headers: Record<string, string>): void {
  if (outlet.committed) {
    const error = shape.error(refusal);
    outlet.end(error.type === undefined ? dataEvent(error) + DONE : namedEvent(error));
    return;
  }
  outlet.head(refusal.status ?? ERRORS[refusal.code].status, {
    "content-type": "application/json",
    ...(refusal.retryAfter === undefined ? {} : { "retry-after": String(refusal.retryAfter) }),
    ...headers,
  });
  outlet.end(JSON.stringify(shape.error(refusal)));
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
