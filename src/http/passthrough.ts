import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call } from "../upstream/client.ts";
import { lossFailure } from "../upstream/loss.ts";
import type { Server } from "../upstream/server.ts";
import { credentials, requestHeaders, responseHeaders } from "./headers.ts";
import { sendError } from "./respond.ts";

interface Shape {
  error: Parameters<typeof sendError>[2]["error"];
}

/**
 * Hands a request on byte for byte, streamed both ways, each side held back by the other, trailers included.
 * No limit of size or time: uploads and downloads take what they take; a client that leaves ends the upstream's work.
 */
export function passThrough(
  server: Server,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  own: {
    readonly inboundKeys: boolean;
    readonly headers: Record<string, string>;
    readonly shape: Shape;
    readonly body?: Buffer;
  },
): Promise<void> {
  const { headers } = credentials(request.headers, server.authorization, own.inboundKeys);
  const hasBody =
    own.body !== undefined ||
    request.headers["content-length"] !== undefined ||
    request.headers["transfer-encoding"] !== undefined;
  const sent = { ...requestHeaders(request.headers, false), ...headers };
  return new Promise((resolve) => {
    let call: Call | null = null;
    response.on("close", () => {
      call?.abort();
      resolve();
    });
    call = server.call(request.method ?? "GET", path, sent, hasBody ? (own.body ?? request) : null, {
      head(status, received) {
        const out = responseHeaders(received, false);
        if (received.trailer !== undefined) out.trailer = received.trailer;
        response.writeHead(status, { ...out, ...own.headers });
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
        sendError(response, lossFailure(server, loss), own.shape, own.headers);
      },
    });
  });
}
