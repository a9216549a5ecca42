import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { Agent, request } from "undici";

/** The proxy that most people would write: Hono, undici, and web streams in both directions. It counts nothing and heals nothing. */
const [upstream = "", keepAliveMs = ""] = process.argv.slice(2);
const dispatcher = keepAliveMs === "" ? new Agent() : new Agent({ keepAliveTimeout: Number(keepAliveMs) });
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "content-length"];

// Node 20's adapter from streams to web streams throws out of reach where a client leaves with data still on its way.
process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
  if (error.code === "ERR_INVALID_STATE") return;
  console.error(error);
  process.exit(1);
});

const app = new Hono();
app.all("/v1/*", async (context) => {
  const { pathname, search } = new URL(context.req.url);
  const asked = Object.fromEntries(context.req.raw.headers);
  for (const name of [...HOP_BY_HOP, "host"]) delete asked[name];
  const answer = await request(upstream + pathname + search, {
    dispatcher,
    method: context.req.method as "POST",
    headers: asked,
    body: context.req.raw.body === null ? null : Readable.fromWeb(context.req.raw.body as ReadableStream),
  });
  // Without this a client that leaves ends the process.
  answer.body.on("error", () => {});
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !HOP_BY_HOP.includes(name)) headers.set(name, String(value));
  }
  return new Response(Readable.toWeb(answer.body) as globalThis.ReadableStream, { status: answer.statusCode, headers });
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`listening on ${port}`));
