import { describe, expect, it } from "vitest";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";
import { type Plain, postPlain, postStream, startStream } from "../support/client.ts";
import { type ProxyOptions, startProxy } from "../support/proxy.ts";
import {
  comment,
  done,
  eof,
  finish,
  over,
  pause,
  raw,
  recite,
  reply,
  say,
  stall,
  startUpstream,
  status,
  type Transport,
  usage,
} from "../support/upstream.ts";

const QUESTION = "hello";
const messages = [{ role: "user", content: QUESTION }];
const ask: JsonObject = { model: "m", messages };
const TEXT = "北京🌍é — first the lamp 💡, then the kettle, then 10 ½ naïve café lines; заря, ἀλλά, שלום, and 終わり.";

/** Every wire, asked with a cap that cuts. */
const WIRES = [
  ["/chat/completions", { messages, max_tokens: 70 }],
  ["/completions", { prompt: QUESTION, max_tokens: 70 }],
  ["/responses", { input: QUESTION, max_output_tokens: 70 }],
  ["/messages", { messages, max_tokens: 70 }],
] as const;
const ADVISORY = { "x-lastword-caps": "advisory" };
const LONG = `${TEXT}\n${TEXT.toUpperCase()}\n${[...TEXT].reverse().join("")}`;

async function stage(options: ProxyOptions = {}, dialect: "vllm" | "llamacpp" | "generic" | "openrouter" = "vllm") {
  const up = await startUpstream({ dialect, window: 32_768 });
  const proxy = await startProxy(up, options);
  return {
    up,
    proxy,
    stream: (body: JsonObject = ask, headers = {}) => postStream(`${proxy.url}/chat/completions`, body, headers),
    plain: (body: JsonObject | string = ask, headers = {}) => postPlain(`${proxy.url}/chat/completions`, body, headers),
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await up.close();
    },
  };
}

const chunk = (delta: JsonObject, finish_reason: string | null = null, more: JsonObject = {}): JsonObject => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const data = (json: JsonObject) => `data: ${JSON.stringify(json)}\n\n`;
const contentOf = ({ json }: Plain) => asObject(asObject(asArray(json?.choices)[0])?.message)?.content;

describe("how bytes come, and what they say all the same", () => {
  describe.each(WIRES)("%s", (path, body) => {
    it.each<[string, Transport]>([
      ["B57: one byte at a time", { split: { every: 1 } }],
      ["B57: cut within characters", { split: { every: 7 } }],
      ["B58: CRLF", { newline: "\r\n" }],
      ["B58: CR", { newline: "\r" }],
      ["B58, B59: CRLF, one byte at a time", { newline: "\r\n", split: { every: 1 } }],
      ["many events in one read", { batch: 50 }],
      ["B69: gzip", { encoding: "gzip" }],
      ["B69: br", { encoding: "br" }],
    ])("%s", async (_name, transport) => {
      await using on = await stage({}, "llamacpp");
      for (const heal of ["on", "off"]) {
        on.up.handle(recite(LONG, { transport }));
        const headers = { ...ADVISORY, "x-lastword-heal": heal };
        const got = await postStream(on.proxy.url + path, { model: "m", ...body }, headers);
        if (heal === "on") expect(got.text()).toBe(LONG);
        else expect(LONG.startsWith(got.text())).toBe(true);
        expect(got.text()).not.toContain("\ufffd");
        expect(got.headers).not.toHaveProperty("content-encoding");
      }
    });

    it("B69: a compressed plain reply is whole, and says nothing of its compression", async () => {
      await using on = await stage({}, "llamacpp");
      for (const encoding of ["gzip", "br"] as const) {
        on.up.handle(recite(LONG, { transport: { encoding } }));
        const got = await postPlain(
          on.proxy.url + path,
          { model: "m", ...body },
          { ...ADVISORY, "accept-encoding": "gzip, br" },
        );
        expect(JSON.stringify(got.json)).toContain(JSON.stringify(LONG));
        expect(got.headers["content-encoding"]).toBeUndefined();
        expect(got.headers["transfer-encoding"]).toBeUndefined();
        expect(got.headers["content-length"]).toBe(String(got.bytes.length));
      }
    });

    it("B73: a stream in a plain reply's place is one body, and the other way round", async () => {
      await using on = await stage({}, "llamacpp");
      on.up.handle((call, n) => recite(LONG, { transport: { mode: n % 2 === 1 ? "stream" : "plain" } })(call, n));
      const plain = await postPlain(on.proxy.url + path, { model: "m", ...body }, ADVISORY);
      expect(JSON.stringify(plain.json)).toContain(JSON.stringify(LONG));
      expect(plain.headers["content-type"]).toContain("application/json");
      on.up.handle(recite(LONG, { transport: { mode: "plain" } }));
      const streamed = await postStream(on.proxy.url + path, { model: "m", ...body }, ADVISORY);
      expect([streamed.text(), streamed.ended]).toEqual([LONG, true]);
      expect(streamed.headers["content-type"]).toContain("text/event-stream");
    });

    it.each([
      [401, { error: { message: "no key", type: "x", code: "invalid_api_key" } }],
      [404, { error: { message: "The model `m` does not exist.", code: "model_not_found" } }],
      [429, { error: { message: "slow down", code: "rate_limit" } }],
      [500, "boom"],
    ])("B74: an upstream's %i stays one, streamed or not", async (code, error) => {
      await using on = await stage({ recovery: { retryBackoffSeconds: [] } }, "llamacpp");
      on.up.handle(() => [status(code, error, { "retry-after": "7" })]);
      for (const post of [postStream, postPlain]) {
        const got = await post(on.proxy.url + path, { model: "m", ...body });
        expect(got.status).toBe(code);
        const told = JSON.parse(got.bytes.toString()) as JsonObject;
        if (typeof error === "object") expect(told).toEqual(error);
        else expect(asObject(told.error)).toMatchObject({ code: "upstream_error" });
        if (code === 429) expect(got.headers["retry-after"]).toBe("7");
        expect(got.headers["content-type"]).toContain("application/json");
      }
    });
  });

  it("B59: CR and LF that come apart are one line end", async () => {
    await using on = await stage();
    const lines = [
      'data: {"choices":[{"index":0,\r',
      '\ndata: "delta":{"content":"x"}}]}\r\n\r',
      "\n",
      data(chunk({}, "stop")),
      "data: [DONE]\n\n",
    ];
    on.up.next(...lines.map((line) => raw(line)));
    expect((await on.stream()).text()).toBe("x");
  });

  it("B60: comments are no output, and never become data", async () => {
    await using on = await stage({}, "openrouter");
    const hello = comment("OPENROUTER PROCESSING");
    on.up.next(hello, hello, raw(":\n\n"), say("Hel"), hello, say("lo"), finish("stop"), done());
    const got = await on.stream();
    expect(got.text()).toBe("Hello");
    expect(got.bytes.toString()).not.toMatch(/^data: *:/m);
  });

  it("B60: a stream of comments alone is no reply", async () => {
    await using on = await stage();
    on.up.handle(() => [comment("hb"), comment("hb"), eof()]);
    expect((await on.stream()).status).toBe(502);
  });

  it("B61: keep-alives that are no JSON are left out, and the stream goes on", async () => {
    await using on = await stage();
    const odd = raw('data: : keepalive\n\ndata:\n\ndata: ""\n\n');
    on.up.next(odd, say("Hel"), odd, say("lo"), odd, finish("stop"), odd, done());
    const got = await on.stream();
    expect(got.text()).toBe("Hello");
    for (const one of got.events) expect(one.data === "[DONE]" || one.data.startsWith("{")).toBe(true);
  });

  it("B63: data over several lines, without a space, behind other fields and a mark", async () => {
    await using on = await stage();
    on.up.next(
      raw(
        '\ufeffretry: 10\n\nevent: message\nid: 7\ndata:{"choices":[{"index":0,\ndata:"delta":{"content":"a"}}]}\n\n',
      ),
      raw('data:  {"choices":[{"index":0,"delta":{"content":" b"}}]}\n\n'),
      raw(data(chunk({}, "stop"))),
      done(),
    );
    const got = await on.stream();
    expect([got.text(), got.finish()]).toEqual(["a b", "stop"]);
  });

  it.each([
    ["one line end", "\n", "stop"],
    ["no line end", "", "stop"],
  ])("B64: a last event with %s counts if it is whole, and ours end with an empty line", async (_name, end, told) => {
    await using on = await stage();
    on.up.next(raw(data(chunk({ content: "hi" }))), raw(`data: ${JSON.stringify(chunk({}, "stop"))}${end}`), eof());
    const got = await on.stream();
    expect([got.text(), got.finish(), got.ended]).toEqual(["hi", told, true]);
    expect(got.bytes.toString().endsWith("\n\n")).toBe(true);
    expect(on.up.calls).toHaveLength(1);
  });

  it("B64: half a last event is a cut", async () => {
    await using on = await stage();
    on.up.next(raw(data(chunk({ content: "hi" }))), raw('data: {"choices":[{"delta":{},"finish_reas'), eof());
    on.up.next(...reply(" there"));
    const got = await on.stream();
    expect([got.text(), got.finish()]).toEqual(["hi there", "stop"]);
    expect(await on.proxy.finished()).toMatchObject({ outcome: "healed", cause: "upstream_broken" });
  });

  it("B65: usage beside an empty choice is told once, with its details", async () => {
    await using on = await stage();
    const told = {
      prompt_tokens: 300,
      completion_tokens: 1,
      total_tokens: 301,
      prompt_tokens_details: { cached_tokens: 256 },
    };
    on.up.next(
      raw(data(chunk({ content: "x" }))),
      raw(data(chunk({}, "stop"))),
      raw(data(chunk({}, null, { usage: told }))),
      done(),
    );
    const got = await on.stream({ ...ask, stream_options: { include_usage: true } });
    expect(got.chunks.filter((one) => asObject(one.usage) !== undefined).map((one) => one.usage)).toEqual([told]);
    expect(await on.proxy.finished()).toMatchObject({ promptTokens: 300, completionTokens: 1 });
  });

  it.each([
    [undefined, 0],
    [{ include_usage: false }, 0],
    [{ include_usage: true }, 1],
    [{ other: 1 }, 0],
  ])("B66: with stream options %j usage comes %i times", async (stream_options, times) => {
    await using on = await stage();
    on.up.next(...reply("hi", "stop", { prompt: 3, completion: 1 }));
    const got = await on.stream(stream_options === undefined ? ask : { ...ask, stream_options });
    const without = got.chunks.filter((one) => asArray(one.choices).length === 0);
    expect(without).toHaveLength(times);
    if (times === 1) expect(got.chunks.at(-1)).toBe(without[0]);
    expect(on.up.calls[0]?.body.stream_options).toEqual({ ...stream_options, include_usage: true });
  });

  it("B67: stream options that an upstream does not take are left out, once found out and for good", async () => {
    await using on = await stage();
    const refuses: Parameters<typeof on.up.handle>[0] = ({ body }) =>
      body.stream_options === undefined
        ? reply("hi")
        : [status(400, { error: { message: "unknown field stream_options" } })];
    on.up.handle(refuses);
    for (const calls of [2, 3]) {
      expect((await on.stream()).text()).toBe("hi");
      expect(on.up.calls).toHaveLength(calls);
    }
    const own = await on.stream({ ...ask, stream_options: { include_usage: true } });
    expect(own.status).toBe(400);
    expect(own.bytes.toString()).toContain("unknown field stream_options");
  });

  it("B68: a client that hangs up ends the work, streamed and plain", async () => {
    await using on = await stage();
    on.up.handle(() => [say("The lamp"), stall()]);
    const streaming = startStream(`${on.proxy.url}/chat/completions`, ask);
    await streaming.until("The lamp");
    streaming.abort();
    expect(await (await on.up.call(1)).ended).toBe("aborted");
    const plain = startStream(`${on.proxy.url}/chat/completions`, { ...ask, stream: false });
    const gone = plain.done.catch(() => null);
    const call = await on.up.call(2);
    plain.abort();
    expect(await call.ended).toBe("aborted");
    await gone;
    for (const n of [1, 2]) expect(await on.proxy.finished(n)).toMatchObject({ outcome: "canceled" });
    expect(on.up.calls).toHaveLength(2);
    expect(on.proxy.services.board.snapshot().live).toEqual([]);
  });

  it("B70: an upstream gets its own framing, and no header of the client's hop", async () => {
    await using on = await stage();
    on.up.next(...reply("hi"));
    await on.plain(
      { ...ask, note: "é" },
      {
        connection: "x-hop, keep-alive",
        "x-hop": "1",
        te: "trailers",
        "proxy-authorization": "Basic x",
        "accept-encoding": "zstd",
        cookie: "a=b",
        "x-own": "kept",
      },
    );
    const [call] = on.up.calls;
    expect(call?.headers).toMatchObject({
      "x-own": "kept",
      host: new URL(on.up.url).host,
      "content-length": String(call?.bytes.length),
    });
    for (const name of ["x-hop", "te", "proxy-authorization", "cookie", "transfer-encoding"])
      expect(call?.headers).not.toHaveProperty(name);
  });

  it("B71: what has come is passed on before more comes, uncompressed and marked so", async () => {
    await using on = await stage();
    on.up.next(say("1"), pause(), say("2"), finish("stop"), done());
    const live = startStream(`${on.proxy.url}/chat/completions`, ask, { "accept-encoding": "gzip, br" });
    await live.until('"1"');
    expect(live.seen()).not.toContain('"2"');
    on.up.release();
    const got = await live.done;
    expect(got.text()).toBe("12");
    expect(got.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    expect(got.headers).not.toHaveProperty("content-encoding");
    expect(got.headers).not.toHaveProperty("content-length");
  });

  it("B72: a body below the limit is sent on whole, one above it is refused early, in JSON", async () => {
    await using on = await stage({ limits: { maxBodyBytes: 6_000_000 } });
    on.up.handle(() => reply("hi"));
    const image = (bytes: number): JsonObject => ({
      ...ask,
      messages: [
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(bytes)}` } }],
        },
      ],
    });
    expect((await on.plain(image(5_000_000))).status).toBe(200);
    expect(on.up.calls[0]?.bytes.length).toBeGreaterThan(5_000_000);
    const refused = await on.plain(image(7_000_000)).catch(() => null);
    // A client that is still writing may not hear the answer; it is never sent on.
    if (refused !== null) {
      expect(refused.status).toBe(413);
      expect(asObject(refused.json?.error)).toMatchObject({ code: "request_too_large", type: "invalid_request_error" });
    }
    expect(on.up.calls).toHaveLength(1);
  });

  it("B72: a page in an upstream's refusal is not handed on, nor taken for an overflow", async () => {
    await using on = await stage();
    on.up.handle(() => [
      status(413, "<html><h1>413 Request Entity Too Large</h1></html>", { "content-type": "text/html" }),
    ]);
    const got = await on.plain();
    expect([got.status, asObject(got.json?.error)?.code]).toEqual([413, "upstream_error"]);
    expect(got.bytes.toString()).not.toContain("<h1>");
    expect(on.up.calls).toHaveLength(1);
  });

  it("B73: a stream that is labelled JSON, and begins with a comment", async () => {
    await using on = await stage();
    on.up.next(
      over({ mode: "stream", headers: { "content-type": "application/json" } }),
      comment("ping"),
      say("he"),
      say("llo"),
      finish("stop"),
      usage(3, 2, { force: true }),
      done(),
    );
    const got = await on.plain();
    expect([contentOf(got), got.json?.object]).toEqual(["hello", "chat.completion"]);
    expect(got.json?.usage).toMatchObject({ completion_tokens: 2 });
    expect(on.up.calls).toHaveLength(1);
  });

  it("B75: an event cut in half by the next is left out, and what follows stands", async () => {
    await using on = await stage();
    const half = 'data: {"id":"1","choices":[{"index":0,"delta":{"role":"adata: ';
    on.up.next(
      raw(`${half}${JSON.stringify(chunk({ content: "Now" }))}\n\n`),
      raw(data(chunk({ content: "then" }))),
      finish("stop"),
      done(),
    );
    const got = await on.stream();
    expect(got.text()).toBe("then");
    for (const one of got.events.slice(0, -1)) expect(() => JSON.parse(one.data) as unknown).not.toThrow();
  });
});
