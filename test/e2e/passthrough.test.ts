import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Lastword, startProxy } from "../support/proxy.ts";

/** One request as the upstream had it. */
interface Had {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

type Answer = (req: IncomingMessage, res: ServerResponse) => void;

/** A plain server that remembers what it had. Without `answer` it sends the body back. */
async function startServer(answer: Answer | null = null) {
  const had: Had[] = [];
  const server = createServer(async (req, res) => {
    if (answer !== null) return answer(req, res);
    const body = await bodyOf(req);
    const { method = "", url = "", headers, rawHeaders } = req;
    had.push({ method, url, headers, rawHeaders, body });
    res.writeHead(201, { "content-type": "application/x-own", "x-own": "yes", "content-length": body.length });
    res.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    dialect: "llamacpp" as const,
    had,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: NodeJS.Dict<string>;
  readonly body: Buffer;
}

async function send(
  method: string,
  url: string,
  body: Buffer | string | null = null,
  headers: Record<string, string | string[]> = {},
): Promise<Got> {
  const req = request(url, { method, headers, agent: false });
  req.end(body);
  const [res] = (await once(req, "response")) as [IncomingMessage];
  const read = await bodyOf(res);
  return { status: res.statusCode ?? 0, headers: res.headers, trailers: res.trailers, body: read };
}

const BINARY = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 31) % 256));
const form = (model: string | null, file: Buffer, boundary = "----edge7") =>
  Buffer.concat([
    ...(model === null
      ? []
      : [Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`)]),
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="model"\r\nContent-Type: audio/wav\r\n\r\n`,
    ),
    file,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
const MULTIPART = { "content-type": "multipart/form-data; boundary=----edge7" };
const JSON_TYPE = { "content-type": "application/json" };

describe("what is passed through", () => {
  let up: Awaited<ReturnType<typeof startServer>>;
  let proxy: Lastword;
  beforeEach(async () => {
    up = await startServer();
    proxy = await startProxy(up);
  });
  afterEach(async () => {
    await proxy.close();
    await up[Symbol.asyncDispose]();
  });

  it.each<[string, string, Buffer | string | null, Record<string, string>]>([
    ["POST", "/v1/embeddings", '{"model":"m", "input": [ "a" ] , "n": 1e2}', JSON_TYPE],
    ["POST", "/v1/audio/transcriptions", form("whisper", BINARY), MULTIPART],
    ["POST", "/v1/audio/speech", '{"model":"tts","input":"hi"}', JSON_TYPE],
    ["POST", "/v1/images/edits", form("image", BINARY), MULTIPART],
    ["POST", "/v1/files?purpose=batch&x=%2F%20", form(null, BINARY), MULTIPART],
    ["GET", "/v1/files/file-7/content", null, {}],
    ["DELETE", "/v1/files/file-7", null, {}],
    ["POST", "/v1/rerank", '{"model":"m","query":"q","documents":["d"]}', JSON_TYPE],
    ["POST", "/v1/some/thing%2Fnew", BINARY, { "content-type": "application/octet-stream" }],
    ["GET", "/v1/responses/resp_1", null, {}],
    ["PUT", "/v1/anything", "text", { "content-type": "text/plain" }],
    ["PATCH", "/v1/anything", "", {}],
    ["GET", "/api/v0/models/qwen%2Fqwen3", null, {}],
    ["POST", "/api/v1/models/load", '{"model":"m","context_length":8192}', JSON_TYPE],
    ["POST", "/api/chat", '{"model":"m"}', JSON_TYPE],
    ["GET", "/props?model=m&autoload=false", null, {}],
    ["GET", "/slots?fail_on_no_slot=1", null, {}],
    ["POST", "/slots/0?action=save", '{"filename":"a"}', JSON_TYPE],
    ["POST", "/tokenize", '{"content":"\\u00e9"}', JSON_TYPE],
    ["POST", "/detokenize", '{"tokens":[1]}', JSON_TYPE],
    ["POST", "/apply-template", '{"messages":[]}', JSON_TYPE],
    ["POST", "/completion", '{"prompt":"a","n_predict":4}', JSON_TYPE],
    ["POST", "/infill", '{"input_prefix":"a"}', JSON_TYPE],
    ["POST", "/rerank", '{"query":"q"}', JSON_TYPE],
    ["OPTIONS", "/v1/embeddings", null, {}],
    ["GET", "/v1/chat/completions", null, {}],
  ])("%s %s", async (method, path, body, headers) => {
    const got = await send(method, proxy.root + path, body, headers);
    expect(got.status).toBe(201);
    expect(got.body.equals(Buffer.from(body ?? ""))).toBe(true);
    expect(got.headers).toMatchObject({ "content-type": "application/x-own", "x-own": "yes" });
    expect(got.headers).toMatchObject({ "x-lastword-upstream": "up", "x-lastword-request-id": expect.any(String) });
    expect(up.had).toMatchObject([{ method, url: path, headers }]);
    expect(up.had[0]?.body.equals(Buffer.from(body ?? ""))).toBe(true);
    expect(proxy.events).toEqual([]);
  });

  it("HEAD has the headers and no body", async () => {
    await using own = await startServer((_req, res) => {
      res.writeHead(200, { "content-length": 12_345, "content-type": "audio/mpeg" }).end();
    });
    await using through = await startProxy(own);
    const got = await send("HEAD", `${through.url}/files/file-7/content`);
    expect([got.status, got.headers["content-length"], got.body.length]).toEqual([200, "12345", 0]);
  });

  it("B70: headers of the client's hop stay there, and the body keeps its length", async () => {
    const body = '{"input":"é"}';
    await send("POST", `${proxy.url}/embeddings`, body, {
      ...JSON_TYPE,
      connection: "x-hop, keep-alive",
      "x-hop": "1",
      "keep-alive": "timeout=9",
      te: "trailers",
      "proxy-authorization": "Basic x",
      "x-lastword-explain": "1",
      "x-own": "kept",
      expect: "100-continue",
      "content-length": String(Buffer.byteLength(body)),
    });
    const [had] = up.had;
    expect(had?.headers).toMatchObject({
      "content-length": String(Buffer.byteLength(body)),
      "x-own": "kept",
      host: new URL(up.url).host,
    });
    const names = ["x-hop", "keep-alive", "te", "proxy-authorization", "x-lastword-explain", "expect"];
    for (const name of names) expect(had?.headers).not.toHaveProperty(name);
    expect(had?.body.toString()).toBe(body);
  });

  it("B70: a chunked body is framed once, and rightly", async () => {
    await send("POST", `${proxy.url}/embeddings`, '{"input":"a"}', { ...JSON_TYPE, "transfer-encoding": "chunked" });
    const { "content-length": length, "transfer-encoding": encoding } = up.had[0]?.headers ?? {};
    expect([length, encoding]).toContain(undefined);
    expect([length ?? "13", encoding ?? "chunked"]).toEqual(["13", "chunked"]);
    expect(up.had[0]?.body.toString()).toBe('{"input":"a"}');
  });

  it("B69: a compressed answer is passed on compressed, and says so", async () => {
    const zipped = gzipSync('{"ok":true}');
    await using own = await startServer((_req, res) => {
      res.writeHead(200, {
        "content-type": "application/json",
        "content-encoding": "gzip",
        "content-length": zipped.length,
      });
      res.end(zipped);
    });
    await using through = await startProxy(own);
    const got = await send("GET", `${through.url}/files`, null, { "accept-encoding": "gzip" });
    expect(got.body.equals(zipped)).toBe(true);
    expect(got.headers).toMatchObject({ "content-encoding": "gzip", "content-length": String(zipped.length) });
    expect(got.headers["transfer-encoding"]).toBeUndefined();
  });

  it("trailers come behind the body", async () => {
    await using own = await startServer((_req, res) => {
      res.writeHead(200, { trailer: "x-checksum" });
      res.write("body");
      res.addTrailers({ "x-checksum": "abc" });
      res.end();
    });
    await using through = await startProxy(own);
    const got = await send("GET", `${through.url}/files/1/content`);
    expect([got.body.toString(), got.trailers["x-checksum"]]).toEqual(["body", "abc"]);
  });

  it("both ways stream: each side hears the other before it has ended", async () => {
    await using own = await startServer((req, res) => {
      res.writeHead(200);
      req.on("data", (piece: Buffer) => res.write(`heard ${piece}\n`));
      req.on("end", () => res.end("bye"));
    });
    await using through = await startProxy(own);
    const req = request(`${through.url}/audio/live`, { method: "POST", agent: false });
    req.write("one");
    const [res] = (await once(req, "response")) as [IncomingMessage];
    expect(String((await once(res, "data"))[0])).toBe("heard one\n");
    req.write("two");
    expect(String((await once(res, "data"))[0])).toBe("heard two\n");
    req.end();
    expect((await bodyOf(res)).toString()).toBe("bye");
  });

  it("a transfer that breaks is seen to be broken", async () => {
    await using own = await startServer((_req, res) => {
      res.writeHead(200, { "content-length": 100 });
      res.write("half");
      setImmediate(() => res.destroy());
    });
    await using through = await startProxy(own);
    await expect(send("GET", `${through.url}/files/1/content`)).rejects.toThrow(/aborted|ECONNRESET/);
  });

  it("a client that leaves ends the upstream's work", async () => {
    let closed: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    await using own = await startServer((_req, res) => {
      res.on("close", closed);
      res.writeHead(200);
      res.write("never ending");
    });
    await using through = await startProxy(own);
    const req = request(`${through.url}/files/1/content`, { agent: false });
    req.on("error", () => undefined);
    req.end();
    const [res] = (await once(req, "response")) as [IncomingMessage];
    res.on("error", () => undefined);
    await once(res, "data");
    req.destroy();
    await gone;
  });

  it("an upstream that is not there is a typed 502, whatever the size of the body", async () => {
    await up[Symbol.asyncDispose]();
    for (const size of [10, 3_000_000]) {
      const got = await send("POST", `${proxy.url}/embeddings`, Buffer.alloc(size, "x"));
      expect([got.status, JSON.parse(got.body.toString())]).toMatchObject([
        502,
        { error: { code: "upstream_unreachable", type: "upstream_error" } },
      ]);
    }
    const batch = await send("POST", `${proxy.url}/messages/batches`, "{}");
    expect(JSON.parse(batch.body.toString())).toMatchObject({ type: "error", error: { code: "upstream_unreachable" } });
    up = await startServer();
  });

  it("a WebSocket is refused in so many words", async () => {
    const { hostname, port } = new URL(proxy.root);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /v1/realtime HTTP/1.1\r\nhost: ${hostname}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\nsec-websocket-version: 13\r\n\r\n`,
    );
    const pieces: Buffer[] = [];
    for await (const piece of socket) pieces.push(piece as Buffer);
    expect(Buffer.concat(pieces).toString()).toMatch(/^HTTP\/1\.1 501 .*"code":"not_supported"/s);
  });
});

describe("with several upstreams", () => {
  let first: Awaited<ReturnType<typeof startServer>>;
  let second: Awaited<ReturnType<typeof startServer>>;
  let proxy: Lastword;
  beforeEach(async () => {
    first = await startServer();
    second = await startServer();
    proxy = await startProxy(first, {
      upstreams: [
        { name: "first", url: first.url, dialect: "generic" },
        { name: "second", url: second.url, dialect: "generic" },
      ],
      models: [{ match: "whisper*", upstream: "second" }],
      limits: { maxBodyBytes: 100_000 },
    });
  });
  afterEach(async () => {
    await proxy.close();
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
  });

  /** A form whose file comes first, of this size. */
  const late = (size: number) =>
    Buffer.concat([
      Buffer.from(`------edge7\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`),
      Buffer.alloc(size, "x"),
      Buffer.from(
        `\r\n------edge7\r\ncontent-disposition: form-data; name=model\r\n\r\nwhisper-1\r\n------edge7--\r\n`,
      ),
    ]);

  it.each<[string, string, string, Buffer | string, Record<string, string>, "first" | "second"]>([
    ["JSON", "POST", "/v1/embeddings", '{"input":"a","model":"whisper-1"}', JSON_TYPE, "second"],
    [
      "JSON without a length",
      "POST",
      "/v1/embeddings",
      '{"model":"whisper-1"}',
      { ...JSON_TYPE, "transfer-encoding": "chunked" },
      "second",
    ],
    ["JSON of another model", "POST", "/v1/embeddings", '{"model":"qwen","note":"whisper-1"}', JSON_TYPE, "first"],
    ["JSON of no model", "POST", "/v1/embeddings", '{"input":{"model":"whisper-1"}}', JSON_TYPE, "first"],
    ["no JSON", "POST", "/v1/embeddings", "{", JSON_TYPE, "first"],
    [
      "large JSON",
      "POST",
      "/v1/embeddings",
      `{"model":"whisper-1","input":"${"x".repeat(300_000)}"}`,
      JSON_TYPE,
      "second",
    ],
    ["a form", "POST", "/v1/audio/transcriptions", form("whisper-1", BINARY), MULTIPART, "second"],
    [
      "a large form",
      "POST",
      "/v1/audio/transcriptions",
      form("whisper-1", Buffer.alloc(5_000_000, 7)),
      MULTIPART,
      "second",
    ],
    ["a form with the model at its end", "POST", "/v1/audio/transcriptions", late(50_000), MULTIPART, "second"],
    ["a form with the model far behind", "POST", "/v1/audio/transcriptions", late(2_000_000), MULTIPART, "first"],
    ["a form without a model", "POST", "/v1/files", form(null, BINARY), MULTIPART, "first"],
    ["a query", "GET", "/props?model=whisper-1", "", {}, "second"],
    ["nothing", "GET", "/v1/files", "", {}, "first"],
    ["bytes", "POST", "/v1/files", BINARY, { "content-type": "application/octet-stream" }, "first"],
  ])("the model of %s says where it goes, byte for byte", async (_name, method, path, body, headers, where) => {
    const got = await send(method, proxy.root + path, body === "" ? null : body, headers);
    expect(got.headers["x-lastword-upstream"]).toBe(where);
    expect(got.body.equals(Buffer.from(body))).toBe(true);
    const [had, not] = where === "first" ? [first.had, second.had] : [second.had, first.had];
    expect([had.length, not.length]).toEqual([1, 0]);
    expect(had[0]?.body.equals(Buffer.from(body))).toBe(true);
  });

  it("a form that comes byte by byte is read all the same", async () => {
    const body = form("whisper-1", BINARY);
    const req = request(`${proxy.url}/audio/transcriptions`, { method: "POST", agent: false, headers: MULTIPART });
    for (const byte of body) req.write(Buffer.of(byte));
    req.end();
    const [res] = (await once(req, "response")) as [IncomingMessage];
    expect((await bodyOf(res)).equals(body)).toBe(true);
    expect(second.had).toHaveLength(1);
  });
});
