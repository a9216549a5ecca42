import { describe, expect, it } from "vitest";
import { postPlain, postStream, startStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, pause, reply, say, startUpstream, status } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };
const key = { "idempotency-key": "k1" };

describe("idempotent replay", () => {
  it("a second request attaches to the reply from its start, and one run serves both", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say("one "), pause(), say("two"), finish("stop"), done());
    const first = startStream(`${proxy.url}/chat/completions`, ask, key);
    await first.until("one ");
    const second = startStream(`${proxy.url}/chat/completions`, ask, key);
    await second.until("one ");
    up.release();
    const [a, b] = await Promise.all([first.done, second.done]);
    expect(a.text()).toBe("one two");
    expect(b.bytes.equals(a.bytes)).toBe(true);
    expect(b.headers["x-lastword-replayed"]).toBe("1");
    expect(a.headers["x-lastword-replayed"]).toBeUndefined();
    expect(up.calls).toHaveLength(1);
    expect(up.calls[0]?.headers["idempotency-key"]).toBe("k1");
  });

  it("a client that lost its connection costs nothing twice", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say("one "), pause(), say("two"), finish("stop"), done());
    const first = startStream(`${proxy.url}/chat/completions`, ask, key);
    await first.until("one ");
    first.abort();
    await first.done.catch(() => undefined);
    up.release();
    const again = await postStream(`${proxy.url}/chat/completions`, ask, key);
    expect(again.text()).toBe("one two");
    expect(up.calls).toHaveLength(1);
  });

  it("a finished reply is given again, plain as well", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(...reply("whole"));
    const first = await postPlain(`${proxy.url}/chat/completions`, ask, key);
    const second = await postPlain(`${proxy.url}/chat/completions`, ask, key);
    expect(second.bytes.equals(first.bytes)).toBe(true);
    expect(second.headers["x-lastword-replayed"]).toBe("1");
    expect(up.calls).toHaveLength(1);
  });

  it("another body with the same key is refused, another caller has a run of its own", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    for (let i = 0; i < 3; i++) up.next(...reply("whole"));
    await postPlain(`${proxy.url}/chat/completions`, ask, key);
    const other = await postPlain(`${proxy.url}/chat/completions`, { ...ask, temperature: 1 }, key);
    expect(other.status).toBe(422);
    expect(other.json).toMatchObject({ error: { code: "idempotency_conflict", type: "invalid_request_error" } });
    const stranger = await postPlain(`${proxy.url}/chat/completions`, ask, { ...key, authorization: "Bearer other" });
    expect(stranger.headers["x-lastword-replayed"]).toBeUndefined();
    expect(up.calls).toHaveLength(2);
  });

  it("a failed run is not kept", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(status(400, { error: { message: "no" } }));
    up.next(...reply("whole"));
    expect((await postPlain(`${proxy.url}/chat/completions`, ask, key)).status).toBe(400);
    expect((await postPlain(`${proxy.url}/chat/completions`, ask, key)).status).toBe(200);
  });

  it("the run ends a grace after its last reader has left", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { replayGraceSeconds: 0 } });
    up.next(say("one "), pause(), say("two"), finish("stop"), done());
    const first = startStream(`${proxy.url}/chat/completions`, ask, key);
    await first.until("one ");
    first.abort();
    expect(await up.calls[0]?.ended).toBe("aborted");
    expect(await proxy.finished()).toMatchObject({ outcome: "canceled" });
  });

  it("all runs share one room: what does not fit is no recording, and the oldest finished one goes first", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { maxReplayBytes: 300_000 } });
    const url = `${proxy.url}/chat/completions`;
    const named = (name: string) => ({ "idempotency-key": name });
    const big = "x".repeat(200_000);
    up.handle((_call, n) => reply(`${n}: ${big}`));
    const replayed = async (name: string) => (await postPlain(url, ask, named(name))).headers["x-lastword-replayed"];

    up.next(say(big), pause(), finish("stop"), done());
    const running = startStream(url, ask, named("running"));
    await running.until("xxx");
    expect(await replayed("second")).toBeUndefined();
    expect(await replayed("second")).toBeUndefined();
    up.release();
    expect((await running.done).text()).toBe(big);
    expect((await startStream(url, ask, named("running")).done).headers["x-lastword-replayed"]).toBe("1");
    // The finished one makes room for the next.
    expect(await replayed("third")).toBeUndefined();
    expect(await replayed("third")).toBe("1");
    expect((await startStream(url, ask, named("running")).done).headers["x-lastword-replayed"]).toBeUndefined();
  });

  it("keys that never repeat do not cost nothing", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { maxReplayBytes: 50_000 } });
    up.handle(() => reply("a"));
    const send = (n: number) => postPlain(`${proxy.url}/chat/completions`, ask, { "idempotency-key": `k${n}` });
    for (let n = 0; n < 40; n++) await send(n);
    expect((await send(39)).headers["x-lastword-replayed"]).toBe("1");
    expect((await send(0)).headers["x-lastword-replayed"]).toBeUndefined();
  });
});
