import type { IncomingMessage, ServerResponse } from "node:http";
import { Bytes } from "../core/bytes.ts";
import { Left } from "../core/error.ts";
import type { Call } from "../upstream/client.ts";
import { lossFailure } from "../upstream/loss.ts";
import { withoutSecrets } from "../upstream/quoted.ts";
import { shapeAt } from "../wire/index.ts";
import { credentials, type HeaderList, listOf, requestHeaders, responseHeaders } from "./headers.ts";
import { sendError } from "./respond.ts";
import { type Routes, type Target, targetOf } from "./target.ts";

/** An error that may quote the upstream's key, until it has come as a whole, or is longer than errors are. */
interface Held {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Bytes;
}
const MOST_ERROR_BYTES = 1024 * 1024;

/** What passing on needs of the services. */
interface Sources extends Routes {
  nextId(): string;
}

/**
 * Hands a request on byte for byte, streamed both ways, each side held back by the other, trailers included.
 * No limit of size or time: uploads and downloads take what they take; a client that leaves ends the upstream's work. Only an error is read
 * before it goes on, since it may quote the upstream's key.
 */
export async function passThrough(sources: Sources, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await handOn(await targetOf(sources, request), sources, request, response);
  } catch (error) {
    if (!(error instanceof Left)) throw error;
  }
}

function handOn(
  { server, path, body }: Target,
  sources: Sources,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const inboundKeys = sources.config().listen.keys.length > 0;
  const own = { "x-lastword-request-id": sources.nextId(), "x-lastword-upstream": server.name };
  const { headers } = credentials(request.headers, server.authorization, inboundKeys);
  const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  const sent = [...requestHeaders(request.headers, false), ...headers];
  return new Promise((resolve) => {
    let call: Call | null = null;
    let held: Held | null = null;
    /** Begins the answer with what was held of an error. */
    const release = ({ status, headers, body }: Held): Buffer => {
      held = null;
      response.writeHead(status, headers);
      return Buffer.from(withoutSecrets(body.take().toString("latin1"), server.secrets), "latin1");
    };
    response.on("close", () => {
      call?.abort();
      resolve();
    });
    call = server.call(request.method ?? "GET", path, sent, hasBody ? (body ?? request) : null, {
      head(status, received) {
        const masked = status >= 400 && request.method !== "HEAD" && server.secrets.length > 0;
        const told = masked ? { ...received, "content-length": undefined } : received;
        const trailer = received.trailer === undefined ? [] : ["trailer", String(received.trailer)];
        const headers = responseHeaders(told, [...listOf(own), ...trailer], false);
        if (masked) {
          held = { status, headers, body: new Bytes() };
          return;
        }
        response.writeHead(status, headers);
        // An answer to HEAD, or one without a body, must not wait for a first byte that never comes.
        response.flushHeaders();
      },
      data(chunk) {
        held?.body.add(chunk);
        if (held !== null && held.body.size <= MOST_ERROR_BYTES) return;
        if (response.write(held === null ? chunk : release(held))) return;
        call?.pause();
        response.once("drain", () => call?.resume());
      },
      end(trailers) {
        if (held !== null) response.write(release(held));
        const told: Record<string, string> = {};
        for (const [name, value] of Object.entries(trailers)) if (typeof value === "string") told[name] = value;
        if (Object.keys(told).length > 0) response.addTrailers(told);
        response.end();
      },
      lost(loss) {
        if (response.headersSent) {
          // Its length is not known to be right any more: the client must see a broken transfer, not a short one.
          response.destroy();
          return;
        }
        sendError(response, lossFailure(server, loss), shapeAt(request.url ?? "/"), own);
      },
    });
  });
}
