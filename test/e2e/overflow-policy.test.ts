import { describe, expect, it } from "vitest";
import { asArray, asObject } from "../../src/core/json.ts";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, reply, say, startUpstream, usage } from "../support/upstream.ts";

const words = (n: number, word = "word") => `${word} `.repeat(n);
/** A long run of an agent: system, five turns with calls and results, and what the user asks now. */
const history = [
  { role: "system", content: "You are careful." },
  ...[...Array(5).keys()].flatMap((i) => [
    { role: "user", content: `task ${i}` },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: `c${i}`, type: "function", function: { name: "read", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: `c${i}`, content: words(800) },
    { role: "assistant", content: `done ${i}` },
  ]),
  { role: "user", content: "and now?" },
];

describe("a history over the window", () => {
  it("is refused by default", async () => {
    await using up = await startUpstream({ dialect: "vllm", window: 2048 });
    await using proxy = await startProxy(up);
    const refused = await postPlain(`${proxy.url}/chat/completions`, { model: "m", messages: history } as never);
    expect(refused.status).toBe(400);
    expect(up.calls).toHaveLength(0);
  });

  it("is shortened with overflow: compact, oldest tool results first, pairs and order kept, and told", async () => {
    await using up = await startUpstream({ dialect: "vllm", window: 2048 });
    await using proxy = await startProxy(up, { budget: { overflow: "compact" } });
    up.next(...reply("ok"));
    const answer = await postPlain(`${proxy.url}/chat/completions`, { model: "m", messages: history } as never, {
      "x-lastword-explain": "1",
    });
    expect(answer.status).toBe(200);
    expect(answer.headers["x-lastword-compacted"]).toMatch(/^dropped=\d+;shortened=\d+$/);
    expect(answer.json).toMatchObject({ lastword: { warnings: ["compacted"] } });
    const sent = asArray(up.calls[0]?.body.messages).map((message) => asObject(message) ?? {});
    expect(sent[0]).toEqual(history[0]);
    expect(sent.at(-1)).toEqual(history.at(-1));
    const calls = sent.flatMap((message) => asArray(message.tool_calls)).map((call) => asObject(call)?.id);
    const results = sent.filter((message) => message.role === "tool").map((message) => message.tool_call_id);
    expect(results).toEqual(calls);
  });

  it("what cannot be shortened is refused all the same", async () => {
    await using up = await startUpstream({ dialect: "vllm", window: 2048 });
    await using proxy = await startProxy(up, { budget: { overflow: "compact" } });
    const alone = { model: "m", messages: [{ role: "user", content: words(5000) }] };
    expect((await postPlain(`${proxy.url}/chat/completions`, alone)).status).toBe(400);
    expect(up.calls).toHaveLength(0);
  });

  it("goes to a model with a larger window with overflow: route, chosen before dispatch", async () => {
    await using small = await startUpstream({ dialect: "vllm", window: 2048 });
    await using large = await startUpstream({ dialect: "vllm", window: 32_768, models: ["big"] });
    await using proxy = await startProxy(small, {
      upstreams: [
        { name: "small", url: small.url, dialect: "vllm" },
        { name: "large", url: large.url, dialect: "vllm" },
      ],
      models: [{ match: "big", upstream: "large" }],
      budget: { overflow: "route", overflowModel: "big" },
    });
    large.next(...reply("ok"));
    small.next(...reply("ok"));
    const routed = await postPlain(`${proxy.url}/chat/completions`, { model: "m", messages: history } as never);
    expect(routed.status).toBe(200);
    expect(routed.headers["x-lastword-upstream"]).toBe("large");
    expect(large.calls[0]?.body).toMatchObject({ model: "big" });
    expect(small.calls).toHaveLength(0);
    const fits = await postPlain(`${proxy.url}/chat/completions`, {
      model: "m",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(fits.headers["x-lastword-upstream"]).toBe("small");
  });
});

describe("a window that fills up while the reply is written", () => {
  it("is given room by a shorter history, and the reply goes on where it stopped", async () => {
    await using up = await startUpstream({ dialect: "vllm", window: 8192 });
    await using proxy = await startProxy(up, { budget: { overflow: "compact" } });
    up.next(say("one "), finish("length"), usage(8000, 192), done());
    up.next(say("two"), finish("stop"), usage(4000, 1), done());
    const answer = await postStream(`${proxy.url}/chat/completions`, { model: "m", messages: history } as never, {
      "x-lastword-explain": "1",
    });
    expect(answer.text()).toBe("one two");
    expect(answer.finish()).toBe("stop");
    expect(asArray(up.calls[1]?.body.messages).length).toBeLessThanOrEqual(history.length + 1);
    expect(JSON.stringify(up.calls[1]?.body).length).toBeLessThan(JSON.stringify(up.calls[0]?.body).length);
    expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "context_full" });
    const attempts = proxy.events
      .filter((event) => event.type === "attempt_ended")
      .map((event) => event.facts.strategy);
    expect(attempts).toEqual(["first", "compact"]);
  });

  it("is an honest cut where nothing can be left out", async () => {
    await using up = await startUpstream({ dialect: "vllm", window: 8192 });
    await using proxy = await startProxy(up, { budget: { overflow: "compact" } });
    up.next(say("one "), finish("length"), usage(8000, 192), done());
    const answer = await postStream(`${proxy.url}/chat/completions`, {
      model: "m",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(answer.text()).toBe("one ");
    expect(answer.finish()).toBe("length");
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "context_full" });
  });
});
