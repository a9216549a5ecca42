import { afterEach, describe, expect, test } from "vitest";
import { asArray, asObject } from "../../src/core/json.ts";
import { DIALECTS } from "../../src/upstream/dialect.ts";
import { get, postPlain, postStream, startStream } from "./client.ts";
import {
  comment,
  done,
  drop,
  eof,
  errorEvent,
  finish,
  headers,
  over,
  pause,
  promptTokens,
  reply,
  reset,
  role,
  say,
  stall,
  startUpstream,
  status,
  think,
  tool,
  type Upstream,
  type UpstreamOptions,
  usage,
  wait,
} from "./upstream.ts";

const open: Upstream[] = [];
afterEach(async () => {
  for (const up of open.splice(0)) await up.close();
});
async function start(options: UpstreamOptions): Promise<Upstream> {
  const up = await startUpstream(options);
  open.push(up);
  return up;
}

const ASK = { model: "m", messages: [{ role: "user", content: "hi" }] };
const PATHS = { chat: "/chat/completions", responses: "/responses", messages: "/messages" };
const PLAY = [
  think("hm"),
  say("Hel"),
  say("lo"),
  tool(0, { id: "c1", name: "f" }, '{"a"'),
  tool(0, {}, ":1}"),
  finish("length"),
  usage(10, 3),
  done(),
];

describe("one script on every wire and dialect", () => {
  for (const dialect of DIALECTS)
    for (const [wire, path] of Object.entries(PATHS))
      test(`${dialect} ${wire}: streamed and plain say the same`, async () => {
        const up = await start({ dialect });
        up.next(...PLAY);
        up.next(...PLAY);
        const streamed = await postStream(up.url + path, ASK);
        const plain = await postPlain(up.url + path, ASK);
        expect(streamed.text()).toBe("Hello");
        expect(streamed.reasoning()).toBe("hm");
        expect(streamed.toolArgs()).toEqual(['{"a":1}']);
        expect(streamed.ended).toBe(true);
        const body = plain.bytes.toString();
        for (const part of ["Hello", "hm", "c1"]) expect(body).toContain(part);
        expect(up.calls.map((call) => call.wire)).toEqual([wire, wire]);
      });

  test("Responses events are numbered in order", async () => {
    const up = await start({ dialect: "openai" });
    up.next(...PLAY);
    const streamed = await postStream(`${up.url}/responses`, ASK);
    const numbers = streamed.chunks.map((chunk) => chunk.sequence_number);
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });

  test("completions", async () => {
    const up = await start({ dialect: "vllm" });
    up.next(...reply(["Hel", "lo"], "length"));
    const streamed = await postStream(`${up.url}/completions`, { prompt: "x" });
    expect([streamed.text(), streamed.finish()]).toEqual(["Hello", "length"]);
  });

  test("usage is streamed where it is asked for, and always by OpenRouter", async () => {
    const counts: number[] = [];
    for (const dialect of ["llamacpp", "openrouter"] as const)
      for (const include_usage of [false, true]) {
        const up = await start({ dialect });
        up.next(...reply("x", "stop", { prompt: 1, completion: 1 }));
        const streamed = await postStream(`${up.url}/chat/completions`, { ...ASK, stream_options: { include_usage } });
        counts.push(streamed.chunks.filter((chunk) => asObject(chunk.usage) !== undefined).length);
      }
    expect(counts).toEqual([0, 1, 1, 1]);
  });

  test("a Responses cut is incomplete, but not in the words of llama-server", async () => {
    const seen: (string | null)[] = [];
    for (const dialect of ["openai", "llamacpp"] as const) {
      const up = await start({ dialect });
      up.next(...reply("x", "length"));
      seen.push((await postStream(`${up.url}/responses`, { input: "x" })).finish());
    }
    expect(seen).toEqual(["incomplete", "completed"]);
  });
});

describe("transport", () => {
  test.each([
    ["one byte per write", { split: { every: 1 } }],
    ["offsets inside a character", { split: { at: [3, 4, 201, 202, 203] } }],
    ["random pieces", { split: { seed: 7 } }],
    ["CRLF", { newline: "\r\n" as const }],
    ["CR", { newline: "\r" as const }],
    ["batched", { batch: 3 }],
    ["gzip", { encoding: "gzip" as const }],
    ["brotli, split", { encoding: "br" as const, split: { every: 5 } }],
  ])("%s: the same text", async (_, transport) => {
    const up = await start({ dialect: "generic" });
    up.next(over(transport), comment("ping"), ...reply(["Gr", "üß", "e 🐢"]));
    const streamed = await postStream(`${up.url}/chat/completions`, ASK);
    expect([streamed.text(), streamed.ended, streamed.broken]).toEqual(["Grüße 🐢", true, false]);
  });

  test("a stream to one who asked for none", async () => {
    const up = await start({ dialect: "generic" });
    up.next(over({ mode: "stream" }), ...reply("x"));
    const plain = await postPlain(`${up.url}/chat/completions`, ASK);
    expect(plain.headers["content-type"]).toContain("text/event-stream");
  });
});

describe("ends", () => {
  test.each([
    ["reset", reset],
    ["drop", drop],
  ])("%s: what was said arrives, the body is broken", async (_, end) => {
    const up = await start({ dialect: "generic" });
    up.next(say("Hel"), end());
    const streamed = await postStream(`${up.url}/chat/completions`, ASK);
    expect([streamed.text(), streamed.broken]).toEqual(["Hel", true]);
    expect(await up.calls[0]?.ended).toBe("reset");
  });

  test("reset before anything: no head", async () => {
    const up = await start({ dialect: "generic" });
    up.next(reset());
    await expect(postStream(`${up.url}/chat/completions`, ASK)).rejects.toThrow();
  });

  test("a plain reply is reset in its middle", async () => {
    const up = await start({ dialect: "generic" });
    up.next(say("Hel"), reset());
    const plain = await postPlain(`${up.url}/chat/completions`, ASK);
    expect([plain.broken, plain.bytes.length > 0]).toEqual([true, true]);
  });

  test("stall, then the client leaves: the server sees it", async () => {
    const up = await start({ dialect: "generic" });
    up.next(say("Hel"), stall());
    const live = startStream(`${up.url}/chat/completions`, ASK);
    await live.until("Hel");
    const call = await up.call();
    expect(call.aborted).toBe(false);
    live.abort();
    expect(await call.ended).toBe("aborted");
    expect(call.abortedAt).toBeGreaterThanOrEqual(call.receivedAt);
  });

  test("a pause holds until it is released", async () => {
    const up = await start({ dialect: "generic" });
    up.next(say("a"), pause("g"), ...reply("b"));
    const live = startStream(`${up.url}/chat/completions`, ASK);
    await up.reached("g");
    await live.until('"a"');
    expect(live.seen()).not.toContain('"b"');
    up.release("g");
    expect((await live.done).text()).toBe("ab");
  });

  test("a head alone, then the end of an empty body", async () => {
    const up = await start({ dialect: "generic" });
    up.next(headers(), wait(1), eof());
    const streamed = await postStream(`${up.url}/chat/completions`, ASK);
    expect([streamed.status, streamed.bytes.length, streamed.broken]).toEqual([200, 0, false]);
  });

  test("a status with a body, an error event, a call without a script", async () => {
    const up = await start({ dialect: "lmstudio" });
    up.next(status(429, { error: "slow" }, { "retry-after": "3" }));
    up.next(role(), errorEvent({ error: { message: "no" } }));
    const refused = await postStream(`${up.url}/chat/completions`, ASK);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "3"]);
    const failed = await postStream(`${up.url}/chat/completions`, ASK);
    expect([failed.status, failed.events.at(-1)?.event]).toEqual([200, "error"]);
    expect((await postStream(`${up.url}/chat/completions`, ASK)).status).toBe(418);
  });
});

describe("queries", () => {
  test.each([
    ["llamacpp", "/props", '"n_ctx":8192'],
    ["llamacpp", "/v1/models", '"n_ctx":8192'],
    ["lmstudio", "/api/v1/models", '"context_length":8192'],
    ["lmstudio", "/api/v0/models", '"loaded_context_length":8192'],
    ["lmstudio", "/nowhere", '{"error":"Unexpected endpoint or method. (GET /nowhere)"}'],
    ["vllm", "/v1/models", '"max_model_len":8192'],
    ["ollama", "/api/version", '"version":"'],
    ["ollama", "/api/ps", '"context_length":8192'],
    ["openrouter", "/api/v1/models", '"top_provider":{"context_length":8192'],
    ["openai", "/v1/models", '"owned_by":"system"'],
    ["generic", "/v1/models/m", '"id":"m"'],
  ] as const)("%s %s", async (dialect, path, part) => {
    const up = await start({ dialect, window: 8192 });
    const answer = await get(up.root + path);
    expect([answer.status, answer.bytes.toString()]).toEqual([200, expect.stringContaining(part)]);
    expect(up.queries.map((query) => query.path)).toEqual([path]);
  });

  test("llama-server counts the rendered prompt by every path alike", async () => {
    const up = await start({ dialect: "llamacpp" });
    const direct = await postPlain(`${up.url}/chat/completions/input_tokens`, ASK);
    const template = await postPlain(`${up.root}/apply-template`, ASK);
    const tokens = await postPlain(`${up.root}/tokenize`, { content: template.json?.prompt ?? null });
    expect([direct.json?.input_tokens, asArray(tokens.json?.tokens).length]).toEqual(
      Array(2).fill(promptTokens("chat", ASK)),
    );
  });

  test("an answer of the test's own goes first; a key may be needed", async () => {
    const up = await start({ dialect: "llamacpp", needsKey: "k" });
    up.on("GET /props", () => ({ json: { own: true } }));
    expect((await get(`${up.root}/props`)).status).toBe(401);
    expect((await get(`${up.root}/props`, { authorization: "Bearer k" })).json).toEqual({ own: true });
  });
});
