import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { postPlain } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { reply, startUpstream, status } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };
const BODY = JSON.stringify(ask);

/** Writes bytes as they are and reads until the connection ends. */
async function wire(proxy: Lastword, ...pieces: (string | Buffer)[]): Promise<string> {
  const socket = connect(Number(new URL(proxy.root).port), "127.0.0.1");
  let text = "";
  socket.setEncoding("latin1").on("data", (piece: string) => {
    text += piece;
  });
  socket.on("error", () => undefined);
  for (const piece of pieces) socket.write(piece);
  await once(socket, "close");
  return text;
}

const head = (...more: string[]) =>
  `${["POST /v1/chat/completions HTTP/1.1", "host: 127.0.0.1", "connection: close", ...more].join("\r\n")}\r\n\r\n`;

describe("requests that are not to be trusted", () => {
  const smuggled = {
    "a length and chunks at once": head(`content-length: ${BODY.length}`, "transfer-encoding: chunked") + BODY,
    "two lengths": head("content-length: 5", `content-length: ${BODY.length}`) + BODY,
    "a length that is none": head("content-length: 0x10") + BODY,
    "a negative length": head("content-length: -1") + BODY,
    "chunked, but not last": head("transfer-encoding: chunked, identity") + BODY,
    "chunked in odd letters": head("transfer-encoding: xchunked") + BODY,
    "a chunk's size that is none": `${head("transfer-encoding: chunked")}+5\r\nhello\r\n0\r\n\r\n`,
    "a header that goes on on the next line": head("x-a: b\r\n content-length: 3") + BODY,
    "a blank before the colon": head(`content-length : ${BODY.length}`) + BODY,
    "a bare CR in a header": head("x-a: b\rcontent-length: 3") + BODY,
    "no host": `POST /v1/chat/completions HTTP/1.1\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
    "a NUL in a header": head(`x-a: b\0c`, `content-length: ${BODY.length}`) + BODY,
  };
  it.each(Object.entries(smuggled))("%s: refused before anybody else sees it", async (_name, bytes) => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    expect(await wire(proxy, bytes)).toMatch(/^HTTP\/1\.1 40\d /);
    expect(up.calls).toHaveLength(0);
  });

  it("what stands behind a body is a request of its own, judged like any other", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.handle(() => reply("hello"));
    const first = head(`content-length: ${BODY.length}`).replace("connection: close", "connection: keep-alive") + BODY;
    const second = "GET /v1/models HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    const text = await wire(proxy, first + second);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain("HTTP/1.1 403 ");
    expect(up.calls).toHaveLength(1);
  });

  it("headers of more than 64 KiB: 431, and nothing is kept", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    const long = Array.from({ length: 100 }, (_, i) => `x-${i}: ${"a".repeat(1000)}`);
    expect(await wire(proxy, head(...long, `content-length: ${BODY.length}`) + BODY)).toMatch(/^HTTP\/1\.1 431 /);
    expect(up.calls).toHaveLength(0);
  });

  it("the upstream gets one length, that of what it gets, and one of each header", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.handle(() => reply("hello"));
    const chunkedBody = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\nx-trailer: 1\r\n\r\n`;
    await wire(
      proxy,
      head("transfer-encoding: chunked", "authorization: Bearer a", "authorization: Bearer b") + chunkedBody,
    );
    const { headers, bytes } = (await up.call()) ?? {};
    expect(headers["content-length"]).toBe(String(bytes.length));
    expect(headers["transfer-encoding"]).toBeUndefined();
    expect(headers["x-trailer"]).toBeUndefined();
    expect(headers.authorization).toBe("Bearer a");
  });
});

describe("B72: bodies beyond the limit", () => {
  const limits = { maxBodyBytes: 1_000_000 };

  it("that say so are refused before they are read", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits });
    const text = await wire(proxy, head("content-length: 60000000"));
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain('"code":"request_too_large"');
  });

  it("that do not say so are refused once they are beyond it, also to a client that never stops to read", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits });
    const sent = request(`${proxy.url}/chat/completions`, { method: "POST", agent: false });
    const answered = once(sent, "response");
    answered.catch(() => undefined);
    sent.on("error", () => undefined);
    const piece = Buffer.alloc(65_536, 0x20);
    let written = 0;
    let over = false;
    sent.on("close", () => {
      over = true;
    });
    while (!over && written < 60_000_000) {
      written += piece.length;
      if (!sent.write(piece)) await new Promise(setImmediate);
    }
    const [response] = await answered;
    expect(response.statusCode).toBe(413);
    expect(written).toBeLessThan(60_000_000);
    response.destroy();
  });

  it("and the next request is served", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits });
    up.handle(() => reply("hello"));
    const large = await postPlain(`${proxy.url}/chat/completions`, { ...ask, user: "x".repeat(2_000_000) });
    expect(large.status).toBe(413);
    expect((await postPlain(`${proxy.url}/chat/completions`, ask)).status).toBe(200);
    expect(proxy.events.filter((event) => event.type === "finished").map((event) => event.outcome)).toEqual([
      "rejected",
      "complete",
    ]);
  });
});

describe("B96: an upstream that quotes the key with which it was asked", () => {
  const KEY = "sk-canary-0123456789";
  const quoting = status(401, { error: { message: `Incorrect API key provided: ${KEY}.`, code: "invalid_api_key" } });

  it.each(["/chat/completions", "/messages", "/embeddings", "/files"])(
    "does not tell it to clients of %s",
    async (path) => {
      await using up = await startUpstream({ dialect: "vllm" });
      up.handle(() => [quoting]);
      up.on("POST /v1/*", () => [quoting]);
      await using proxy = await startProxy(up, {
        upstreams: [{ name: "up", url: `${up.url}?token=query-canary`, dialect: "vllm", key: KEY }],
      });
      const got = await postPlain(proxy.url + path, { ...ask, max_tokens: 100 });
      expect(got.status).toBe(401);
      expect(got.bytes.toString()).toContain("Incorrect API key provided: ***.");
      expect(got.json).toMatchObject({ error: { code: "invalid_api_key" } });
    },
  );
});
