import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { asObject, type JsonObject, parseJson } from "../../src/core/json.ts";

export interface Clamp extends AsyncDisposable {
  /** Base with `/v1`, to be used in the server's place. */
  readonly url: string;
  readonly dialect: "llamacpp";
  /** Paths of the generation calls, in order. */
  readonly calls: string[];
}

const GENERATES = /\/(?:chat\/completions|completions|responses|messages)$/;
const CAPS = ["max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict"];

/** A provider in front of a real server that lets no reply have more than `limit` tokens, whatever cap is asked for. */
export async function startClamp(server: { readonly url: string }, limit: number): Promise<Clamp> {
  const target = new URL(server.url);
  const calls: string[] = [];
  const proxy = createServer(async (incoming, outgoing) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const generates = incoming.method === "POST" && GENERATES.test(incoming.url ?? "");
    if (generates) calls.push(incoming.url ?? "");
    const body = generates ? clamped(Buffer.concat(pieces).toString(), limit) : Buffer.concat(pieces);
    const { "content-length": _, host: __, ...headers } = incoming.headers;
    const { hostname, port } = target;
    const onward = request({ hostname, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    onward.end(body);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/v1`,
    dialect: "llamacpp",
    calls,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

function clamped(text: string, limit: number): string {
  const body: JsonObject = { ...asObject(parseJson(text)) };
  const field = CAPS.find((name) => typeof body[name] === "number") ?? "max_tokens";
  const asked = body[field];
  body[field] = typeof asked === "number" && asked >= 0 ? Math.min(asked, limit) : limit;
  return JSON.stringify(body);
}
