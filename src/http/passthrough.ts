import type { IncomingMessage, ServerResponse } from "node:http";
import { Left } from "../core/error.ts";
import type { Call } from "../upstream/client.ts";
import { lossFailure } from "../upstream/loss.ts";
import { shapeAt } from "../wire/index.ts";
import { credentials, requestHeaders, responseHeaders } from "./headers.ts";
import { sendError } from "./respond.ts";
import { type Routes, type Target, targetOf } from "./target.ts";

/** What passing on needs of the services. */
interface Sources extends Routes {
  nextId(): string;
}

/**
 * Hands a request on byte for byte, streamed both ways, each side held back by the other, trailers included.
 * No limit of size or time: uploads and downloads take what they take; a client that leaves ends the upstream's work.
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
    response.on("close", () => {
      call?.abort();
      resolve();
    });
    call = server.call(request.method ?? "GET", path, sent, hasBody ? (body ?? request) : null, {
      head(status, received) {
        const out = responseHeaders(received, false);
        if (received.trailer !== undefined) out.trailer = received.trailer;
        response.writeHead(status, { ...out, ...own });
        // An answer to HEAD, or one without a body, must not wait for a first byte that never comes.
        response.flushHeaders();
      },
      data(chunk) {
        if (response.write(chunk)) return;
        call?.pause();
        response.once("drain", () => call?.resume());
      },
      end(trailers) {
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
