import { describe, expect, it } from "vitest";
import { postPlain, postStream, startStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, pause, reply, say, startUpstream, usage } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };

describe("places at an upstream", () => {
  it("a further request waits in line, and one too many is told to come again", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { maxInflight: 1, maxQueued: 1 } });
    up.next(say("a"), pause(), finish("stop"), done());
    up.next(...reply("b"));
    const first = startStream(`${proxy.url}/chat/completions`, ask);
    await first.until('"a"');
    const second = postStream(`${proxy.url}/chat/completions`, ask);
    while (proxy.services.server("up").slots.waiting === 0) await new Promise(setImmediate);
    const third = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(third.status).toBe(429);
    expect(third.headers["retry-after"]).toBe("1");
    expect(third.json).toMatchObject({ error: { code: "overloaded", type: "rate_limit_error" } });
    expect(up.calls).toHaveLength(1);
    up.release();
    expect((await first.done).text()).toBe("a");
    expect((await second).text()).toBe("b");
    expect(proxy.services.server("up").slots.taken).toBe(0);
  });

  it("a continuation does not queue behind new work", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { maxInflight: 1 } });
    up.next(say("one "), pause(), finish("length"), usage(5, 100), done());
    up.next(say("two"), finish("stop"), done());
    up.next(...reply("new work"));
    const first = startStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 100 });
    await first.until("one ");
    const second = postStream(`${proxy.url}/chat/completions`, ask);
    while (proxy.services.server("up").slots.waiting === 0) await new Promise(setImmediate);
    up.release();
    expect((await first.done).text()).toBe("one two");
    expect((await second).text()).toBe("new work");
  });

  it("who leaves the line gives up its place in it", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { maxInflight: 1 } });
    up.next(say("a"), pause(), finish("stop"), done());
    const first = startStream(`${proxy.url}/chat/completions`, ask);
    await first.until('"a"');
    const second = startStream(`${proxy.url}/chat/completions`, ask);
    while (proxy.services.server("up").slots.waiting === 0) await new Promise(setImmediate);
    second.abort();
    await second.done.catch(() => undefined);
    expect(await proxy.finished()).toMatchObject({ outcome: "canceled" });
    expect(proxy.services.server("up").slots.waiting).toBe(0);
    up.release();
    expect((await first.done).text()).toBe("a");
    expect(up.calls).toHaveLength(1);
  });

  it("the deadline also ends the waiting in line", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { maxInflight: 1 } });
    up.next(say("a"), pause(), finish("stop"), done());
    const first = startStream(`${proxy.url}/chat/completions`, ask);
    await first.until('"a"');
    const second = await postPlain(`${proxy.url}/chat/completions`, ask, { "x-lastword-deadline": "0.05" });
    expect(second.status).toBe(504);
    expect(second.json).toMatchObject({ error: { code: "deadline_exceeded" } });
    up.release();
    await first.done;
  });
});
