import { describe, expect, it, vi } from "vitest";
import { get, postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { done, finish, reply, say, startUpstream, usage } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };
const broken = () => {
  throw new TypeError("canary: cannot read this prompt");
};

function expectTold(proxy: Lastword, count = 1): void {
  const told = proxy.logged.filter((line) => line.includes("failed within lastword"));
  expect(told).toHaveLength(count);
  expect(told[0]).toContain("TypeError");
  expect(proxy.logged.join("\n")).not.toContain("canary");
}

describe("a fault of lastword's own", () => {
  it("before anything was sent is a typed error, and the next request is served", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.handle(() => reply("hello"));
    const known = vi.spyOn(proxy.services.windows, "known").mockImplementationOnce(broken);
    const got = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(got.status).toBe(502);
    expect(got.json).toMatchObject({ error: { code: "upstream_error", lastword: { internal: true } } });
    expect(got.bytes.toString()).not.toContain("canary");
    known.mockRestore();
    expect((await postPlain(`${proxy.url}/chat/completions`, ask)).status).toBe(200);
    expectTold(proxy);
  });

  it("in the middle of a stream is its one error, and the upstream is let go", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    vi.spyOn(proxy.services.windows, "servedBy").mockImplementationOnce(broken);
    up.next(say("one "), finish("length"), usage(5, 100), done());
    const got = await postStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 100 });
    expect(got.text()).toBe("one ");
    expect(got.broken).toBe(false);
    expect(got.ended).toBe(true);
    expect(got.finish()).toBe(null);
    expect(got.chunks.at(-1)).toMatchObject({ error: { code: "upstream_error" } });
    expect(await proxy.finished()).toMatchObject({ outcome: "failed" });
    expect(proxy.services.running.size).toBe(0);
    expectTold(proxy);
  });

  it("in a request that others share ends all of them", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    vi.spyOn(proxy.services.windows, "servedBy").mockImplementationOnce(broken);
    up.next(...reply("one"));
    const key = { "idempotency-key": "k" };
    const both = [
      postStream(`${proxy.url}/chat/completions`, ask, key),
      postStream(`${proxy.url}/chat/completions`, ask, key),
    ];
    for (const got of await Promise.all(both)) {
      expect(got.broken).toBe(false);
      expect(JSON.stringify(got.chunks)).not.toContain("canary");
    }
    expect(proxy.services.running.size).toBe(0);
  });

  it("in a route is a typed error, and is not written to the console", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    const console = vi.spyOn(globalThis.console, "error");
    vi.spyOn(proxy.services.peers, "gather").mockImplementationOnce(broken);
    const got = await get(`${proxy.root}/status`);
    expect(got.status).toBe(502);
    expect(got.json).toMatchObject({ error: { code: "upstream_error" } });
    expect(console).not.toHaveBeenCalled();
    console.mockRestore();
    expectTold(proxy);
  });
});
