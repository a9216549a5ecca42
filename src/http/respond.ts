import type { IncomingMessage, ServerResponse } from "node:http";
import { ERRORS, type Failure } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";
import { DONE, dataEvent, namedEvent } from "../wire/sse.ts";
import type { Outlet } from "./outlet.ts";

/** Anything that can put a failure into a client's own shape. */
interface Shape {
  error(failure: Failure): JsonObject;
}

/** A typed error as a whole HTTP answer; what has not been read of the request is discarded. */
export function sendError(
  response: ServerResponse,
  refusal: Failure,
  shape: Shape,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  if (!response.req.complete) discardRest(response.req);
  response.writeHead(refusal.status ?? ERRORS[refusal.code].status, {
    "content-type": "application/json",
    ...(refusal.retryAfter === undefined ? {} : { "retry-after": String(refusal.retryAfter) }),
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

/** How long a client may go on sending what nobody reads. */
const DISCARD_MS = 2_000;

/**
 * A connection that is closed while its client still sends is reset, and the answer may be lost with it. So the rest is read and
 * forgotten, for a while.
 */
function discardRest(request: IncomingMessage): void {
  const { socket } = request;
  const enough = setTimeout(() => socket.destroy(), DISCARD_MS);
  enough.unref();
  request.on("close", () => clearTimeout(enough));
  request.resume();
}
