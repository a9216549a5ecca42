import { describe, expect, it } from "vitest";
import { http, PLAIN, startBare } from "../support/bare.ts";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { drop, overflow, recite, reply, reset, say, startUpstream, status } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };
const refuse = (code: number, headers: Record<string, string> = {}, error: object = {}) =>
  status(code, { error: { message: "no", type: "t", code: null, ...error } }, headers);

describe("which failures are tried again", () => {
  it.each([408, 409, 425, 429, 500, 502, 503, 504, 529])("%i is, and the reply is whole", async (code) => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(refuse(code));
    up.next(...reply("hello"));
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.json).toMatchObject({ choices: [{ message: { content: "hello" } }] });
    expect(got.headers["x-lastword-attempts"]).toBe("2");
    expect(await proxy.finished()).toMatchObject({ outcome: "complete" });
  });

  it.each([400, 401, 402, 403, 410, 413, 415, 422, 451])("%i is not, and is relayed", async (code) => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(refuse(code));
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.status).toBe(code);
    expect(got.json).toEqual({ error: { message: "no", type: "t", code: null } });
    expect(up.calls).toHaveLength(1);
    expect((await proxy.finished()).outcome).toBe("failed");
  });

  const quota = {
    "OpenAI's insufficient_quota": refuse(
      429,
      {},
      {
        message: "You exceeded your current quota, please check your plan and billing details.",
        type: "insufficient_quota",
        code: "insufficient_quota",
      },
    ),
    "B88: credits, as OpenRouter has them": refuse(
      402,
      {},
      {
        message:
          "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 30104.",
        code: 402,
      },
    ),
  };
  it.each(Object.entries(quota))("%s is never tried again", async (_name, refusal) => {
    await using up = await startUpstream({ dialect: "openrouter" });
    await using proxy = await startProxy(up);
    up.handle(() => [refusal]);
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.status).toBe(refusal.act === "status" ? refusal.status : 0);
    expect(up.calls).toHaveLength(1);
  });

  it("a confirmed overflow is not tried again as it was", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.handle(() => overflow.vllm.new(9000, 4096, 1));
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.json).toMatchObject({ error: { code: "context_length_exceeded" } });
    expect(up.calls).toHaveLength(1);
  });

  it("as often as the waits that there are for it, then the upstream's own answer", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.handle((_call, n) => [refuse(503, { "x-request-id": `r${n}` })]);
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.status).toBe(503);
    expect(got.headers["x-request-id"]).toBe("r3");
    expect(up.calls).toHaveLength(3);
  });

  it("every attempt is the same request, but for the key that makes it one", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(refuse(503));
    up.next(...reply("hello"));
    await postPlain(`${proxy.url}/chat/completions`, { ...ask, temperature: 0.3 }, { "idempotency-key": "k" });
    const [first, second] = up.calls;
    expect(second?.bytes.equals(first?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect(first?.headers["idempotency-key"]).toBe("k");
    expect(second?.headers["idempotency-key"]).toBeUndefined();
  });
});

describe("B84: when they are tried again", () => {
  /** Milliseconds between the first call and the second. */
  async function gapAfter(headers: Record<string, string>, retryBackoffSeconds = [0.3]): Promise<number> {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { retryBackoffSeconds } });
    up.next(refuse(429, headers));
    up.next(...reply("hello"));
    expect((await postPlain(`${proxy.url}/chat/completions`, ask)).status).toBe(200);
    const [first, second] = up.calls;
    return (second?.receivedAt ?? 0) - (first?.receivedAt ?? 0);
  }

  it("not before Retry-After: seconds, milliseconds, a date", async () => {
    expect(await gapAfter({ "retry-after": "0.4" }, [0])).toBeGreaterThanOrEqual(395);
    expect(await gapAfter({ "retry-after-ms": "400" }, [0])).toBeGreaterThanOrEqual(395);
    // Dates have whole seconds: this one is between one and two of them away.
    const date = new Date(Date.now() + 2_000).toUTCString();
    expect(await gapAfter({ "retry-after": date }, [0])).toBeGreaterThanOrEqual(500);
  });

  it.each(["-1", "abc", "", "1e9", "NaN"])("by its own wait where Retry-After is nonsense: %j", async (value) => {
    expect(await gapAfter({ "retry-after": value })).toBeGreaterThanOrEqual(295);
  });

  it.each(["99999", "61"])("not at all where it says %s, which the client is told at once", async (value) => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(refuse(429, { "retry-after": value, "x-ratelimit-remaining-requests": "0", "x-should-retry": "true" }));
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.status).toBe(429);
    expect(got.headers).toMatchObject({
      "retry-after": value,
      "x-ratelimit-remaining-requests": "0",
      "x-should-retry": "true",
    });
    expect(up.calls).toHaveLength(1);
  });

  it("B85: with retries off, status, headers and body are the upstream's", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { retryBackoffSeconds: [] } });
    for (const stream of [true, false]) {
      up.next(refuse(429, { "retry-after": "30", "x-ratelimit-remaining-tokens": "7", "set-cookie": "a=b" }));
      const got = await postPlain(`${proxy.url}/chat/completions`, { ...ask, stream });
      expect(got.status).toBe(429);
      expect(got.headers).toMatchObject({ "retry-after": "30", "x-ratelimit-remaining-tokens": "7" });
      expect(got.headers["set-cookie"]).toBeUndefined();
      expect(got.json).toEqual({ error: { message: "no", type: "t", code: null } });
    }
  });
});

describe("sockets", () => {
  it("B87: one that the server had closed while it was idle costs nothing", async () => {
    await using up = await startBare(({ socket, n, connection }) => {
      if (n > 1 && connection === 1) socket.resetAndDestroy();
      else socket.write(http(PLAIN));
    });
    await using proxy = await startProxy(up, { recovery: { retryBackoffSeconds: [] } });
    expect((await postPlain(`${proxy.url}/chat/completions`, ask)).status).toBe(200);
    expect((await postPlain(`${proxy.url}/chat/completions`, ask)).status).toBe(200);
    const attempts = proxy.events.filter((event) => event.type === "attempt_ended");
    expect(attempts).toHaveLength(2);
  });

  it("B87: and so where several of them are dead", async () => {
    let dead = false;
    await using up = await startBare(({ socket, connection }) => {
      if (dead && connection <= 5) socket.resetAndDestroy();
      else setTimeout(() => socket.write(http(PLAIN)), 20);
    });
    await using proxy = await startProxy(up, { recovery: { retryBackoffSeconds: [] } });
    const four = () => Promise.all(Array.from({ length: 4 }, () => postPlain(`${proxy.url}/chat/completions`, ask)));
    for (const got of await four()) expect(got.status).toBe(200);
    dead = true;
    for (const got of await four()) expect(got.status).toBe(200);
  });

  it("B87: a fresh one that dies before any byte is a failure, retried only by the waits that there are", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { retryBackoffSeconds: [] } });
    up.next(reset());
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.status).toBe(502);
    expect(got.json).toMatchObject({ error: { code: "upstream_error" } });
    expect(up.calls).toHaveLength(1);
  });

  it("a server that is away is asked again, and found", async () => {
    const up = await startUpstream({ dialect: "vllm" });
    const { url, dialect } = up;
    await up.close();
    await using proxy = await startProxy({ url, dialect });
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.status).toBe(502);
    expect(got.json).toMatchObject({
      error: { code: "upstream_unreachable", lastword: { reason: "ECONNREFUSED" } },
    });
    expect(proxy.events.filter((event) => event.type === "attempt_ended")).toHaveLength(3);
  });
});

describe("B83: nothing that the client already has is sent again", () => {
  const TEXT = "Hello world, this is one sentence that is long enough to be cut at many places, and then another.";
  it.each(["vllm", "llamacpp", "generic", "lmstudio"] as const)(
    "whatever way the server goes on by: %s",
    async (dialect) => {
      await using up = await startUpstream({ dialect });
      await using proxy = await startProxy(up);
      const whole = recite(TEXT);
      for (const death of [reset(), drop()]) {
        for (const at of [1, 9, 40, 80]) {
          up.next(say(TEXT.slice(0, at)), death);
          up.handle(whole);
          const got = await postStream(`${proxy.url}/chat/completions`, ask);
          expect(TEXT.startsWith(got.text())).toBe(true);
          expect(got.text().length).toBeGreaterThanOrEqual(at);
          if (got.finish() === "stop") expect(got.text()).toBe(TEXT);
        }
      }
    },
  );

  it("a plain reply that was lost is asked for again, whole", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say(TEXT), reset());
    up.next(...reply(TEXT));
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.json).toMatchObject({ choices: [{ message: { content: TEXT }, finish_reason: "stop" }] });
  });
});
