import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Tokens per second of a reply that flows, about what one user of a busy server sees. */
export const TOKENS_PER_SECOND = 20;

/** A server that says 20 words at once to `quick`, and to `flow` one every 50 ms until its client leaves. */
export async function startUpstream(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response
        .setHeader("content-type", "application/json")
        .end('{"object":"list","data":[{"id":"quick"},{"id":"flow"}]}');
      return;
    }
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { model } = JSON.parse(Buffer.concat(pieces).toString()) as { model: string };
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (model === "quick") {
        response.end([word(model).repeat(20), chunk(model, {}, "stop"), "data: [DONE]\n\n"].join(""));
        return;
      }
      const timer = setInterval(() => response.write(word(model)), 1000 / TOKENS_PER_SECOND);
      response.write(word(model));
      response.on("close", () => clearInterval(timer));
    });
  });
  server.listen(0, "127.0.0.1", 4096);
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const word = (model: string) => chunk(model, { content: "word " }, null);

function chunk(model: string, delta: object, finish_reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model, choices })}\n\n`;
}
