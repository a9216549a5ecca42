import { describe, expect, it } from "vitest";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { done, drop, finish, recite, reply, say, startUpstream, status, type Upstream } from "../support/upstream.ts";

const ask = (content = "hello") => ({ model: "m", messages: [{ role: "user", content }] });
const chat = (proxy: Lastword) => `${proxy.url}/chat/completions`;

/** Two servers of one model, and the proxy before them. */
function before(a: Pick<Upstream, "url">, b: Pick<Upstream, "url">, more = {}): Promise<Lastword> {
  return startProxy(
    { url: a.url, dialect: "vllm" },
    {
      upstreams: [
        { name: "a", url: a.url, dialect: "vllm" },
        { name: "b", url: b.url, dialect: "vllm" },
      ],
      models: [{ match: "*", upstream: ["a", "b"] }],
      ...more,
    },
  );
}

describe("several upstreams of a model", () => {
  it("a conversation stays where it began, and others go elsewhere", async () => {
    await using a = await startUpstream({ dialect: "vllm" });
    await using b = await startUpstream({ dialect: "vllm" });
    await using proxy = await before(a, b);
    for (const up of [a, b]) up.handle(() => reply("whole"));
    const homes = new Set<unknown>();
    for (let i = 0; i < 12; i++) {
      const first = await postPlain(chat(proxy), ask(`question ${i}`));
      const more = [
        { role: "assistant", content: "whole" },
        { role: "user", content: "and then?" },
      ];
      const second = await postPlain(chat(proxy), {
        model: "m",
        messages: [...ask(`question ${i}`).messages, ...more],
      });
      expect(second.headers["x-lastword-upstream"]).toBe(first.headers["x-lastword-upstream"]);
      homes.add(first.headers["x-lastword-upstream"]);
    }
    expect([...homes].sort()).toEqual(["a", "b"]);
    expect(a.calls.length + b.calls.length).toBe(24);
  });

  it.each([
    ["cannot be reached", null],
    ["fails", 503],
    ["has enough to do", 429],
  ])("where one %s, another serves before anything was shown", async (_, code) => {
    await using well = await startUpstream({ dialect: "vllm" });
    await using ill = await startUpstream({ dialect: "vllm" });
    await using proxy = await before(ill, well, { recovery: { retryBackoffSeconds: [30] } });
    well.handle(() => reply("whole"));
    if (code === null) await ill.close();
    else ill.handle(() => [status(code, { error: { message: "no" } }, { "retry-after": "30" })]);
    for (let i = 0; i < 8; i++) {
      const answer = await postStream(chat(proxy), ask(`question ${i}`));
      expect(answer.text()).toBe("whole");
      expect(answer.headers["x-lastword-upstream"]).toBe("b");
    }
    // Those after the first few do not try the one that is not well.
    expect(ill.calls.length).toBeLessThanOrEqual(2);
    expect(well.calls).toHaveLength(8);
  });

  it("a reply whose server dies in the middle is gone on with at another, to the byte", async () => {
    const text = "A reply of some length, which one server begins and another one ends, to the very last byte of it.";
    await using a = await startUpstream({ dialect: "vllm" });
    await using b = await startUpstream({ dialect: "vllm" });
    await using proxy = await before(a, b);
    const model = recite(text);
    const servers = { a, b };
    let begun = "";
    for (const [name, up] of Object.entries(servers)) {
      up.handle(async (call, n) => {
        if (begun !== "") return begun === name ? [status(503, { error: { message: "no" } })] : model(call, n);
        begun = name;
        const script = [...(await model(call, n))];
        return [...script.slice(0, script.length >> 1), drop()];
      });
    }
    const answer = await postStream(chat(proxy), ask());
    expect(answer.text()).toBe(text);
    expect(answer.finish()).toBe("stop");
    expect(new Set(answer.chunks.map(({ id }) => id)).size).toBe(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "upstream_broken" });
    expect(a.calls.length + b.calls.length).toBe(3);
  });

  it("a continuation stays on the server that began it", async () => {
    await using a = await startUpstream({ dialect: "vllm" });
    await using b = await startUpstream({ dialect: "vllm" });
    await using proxy = await before(a, b);
    for (const up of [a, b])
      up.handle((_, n) => (n === 1 ? [say("one "), finish("length"), done()] : [say("two"), finish("stop"), done()]));
    const answer = await postStream(chat(proxy), { ...ask(), max_tokens: 100 });
    expect(answer.text()).toBe("one two");
    expect([a.calls.length, b.calls.length].sort()).toEqual([0, 2]);
  });

  it("where all fail, each is asked once, and the last one as often as a single one would be", async () => {
    await using a = await startUpstream({ dialect: "vllm" });
    await using b = await startUpstream({ dialect: "vllm" });
    await using proxy = await before(a, b, { recovery: { retryBackoffSeconds: [0, 0] } });
    for (const up of [a, b]) up.handle(() => [status(500, { error: { message: "no" } })]);
    const answer = await postPlain(chat(proxy), ask());
    expect(answer.status).toBe(500);
    expect([a.calls.length, b.calls.length].sort()).toEqual([1, 3]);
    expect(proxy.services.server("a").slots.taken + proxy.services.server("b").slots.taken).toBe(0);
  });
});
