import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Live, startStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { done, finish, pause, reply, role, say, stall, startUpstream, status, usage } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };

/** The client goes; the proxy has told of it; nothing of the request is left. */
async function leaves(live: Live, proxy: Lastword): Promise<void> {
  live.abort();
  await live.done.catch(() => undefined);
  expect(await proxy.finished()).toMatchObject({ outcome: "canceled", code: null });
  expect(proxy.services.running.size).toBe(0);
  expect(proxy.services.board.snapshot().live).toHaveLength(0);
  expect(proxy.services.server("up").slots.taken).toBe(0);
  expect(proxy.services.server("up").slots.waiting).toBe(0);
  expect(proxy.logged.filter((line) => line.includes("failed within lastword"))).toEqual([]);
}

describe("B68: a client that has gone ends what was done for it", () => {
  it("while its body is still on the way", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    const live = startStream(`${proxy.url}/chat/completions`, ask, { "content-length": "1000" });
    while (proxy.services.board.snapshot().live.length === 0) await new Promise(setImmediate);
    await leaves(live, proxy);
    expect(up.calls).toHaveLength(0);
  });

  it.each([
    ["closes", false],
    ["breaks", true],
  ])("behind another on a connection that it %s", async (_, breaks) => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    for (const gate of ["one", "two"]) up.next(say("a"), pause(gate), finish("stop"), done());
    const body = JSON.stringify({ ...ask, stream: true });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}`;
    const client = connect(Number(new URL(proxy.root).port), "127.0.0.1");
    client.write(`${head}\r\n\r\n${body}`.repeat(2));
    await Promise.all([up.reached("one"), up.reached("two"), once(client, "data")]);
    if (breaks) client.resetAndDestroy();
    else client.destroy();
    expect(await proxy.finished(2)).toMatchObject({ outcome: "canceled", code: null });
    expect(proxy.services.running.size).toBe(0);
    expect(await Promise.all(up.calls.map(({ ended }) => ended))).toEqual(["aborted", "aborted"]);
  });

  it("while its prompt is being counted by the server", async () => {
    await using up = await startUpstream({ dialect: "vllm", window: 400 });
    await using proxy = await startProxy(up);
    up.on("POST /tokenize", () => [pause("count")]);
    // So near to the window that an estimate does not do.
    const content = "a word and another ".repeat(60);
    const live = startStream(`${proxy.url}/chat/completions`, { ...ask, messages: [{ role: "user", content }] });
    await up.reached("count");
    const [query] = up.queries.filter((call) => call.path.endsWith("/tokenize"));
    await leaves(live, proxy);
    expect(await query?.ended).toBe("aborted");
    expect(up.calls).toHaveLength(0);
  });

  it("while it waits in line", async () => {
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
  });

  const phases = {
    "before the upstream's head": [stall()],
    "between head and first output": [role(), stall()],
    "in the middle of the reply": [say("one "), stall()],
    "in the middle of a tool call": [say("one "), { act: "tool", index: 0, id: "t", name: "f", args: '{"a' }, stall()],
  } as const;
  for (const [phase, script] of Object.entries(phases)) {
    for (const heal of ["on", "off"]) {
      it(`${phase}, healing ${heal}`, async () => {
        await using up = await startUpstream({ dialect: "vllm" });
        await using proxy = await startProxy(up);
        up.next(...script);
        const live = startStream(`${proxy.url}/chat/completions`, ask, { "x-lastword-heal": heal });
        const call = await up.call();
        if (phase.startsWith("in the middle")) await live.until("one ");
        await leaves(live, proxy);
        expect(await call.ended).toBe("aborted");
        expect(up.calls).toHaveLength(1);
      });
    }
  }

  it("a plain request whose reply is being computed", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(stall());
    const live = startStream(`${proxy.url}/chat/completions`, { ...ask, stream: false });
    const call = await up.call();
    await leaves(live, proxy);
    expect(await call.ended).toBe("aborted");
  });

  it("at a seam, before the continuation has begun to speak", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say("one "), finish("length"), usage(5, 100), done());
    up.next(role(), stall());
    const live = startStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 100 });
    const second = await up.call(2);
    await leaves(live, proxy);
    expect(await second.ended).toBe("aborted");
    expect(up.calls).toHaveLength(2);
  });

  it("in the wait before a retry: it is never sent", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { retryBackoffSeconds: [0.05] } });
    up.next(status(503, { error: { message: "busy" } }));
    const live = startStream(`${proxy.url}/chat/completions`, ask);
    while (proxy.services.board.snapshot().live[0]?.phase !== "waiting") await new Promise(setImmediate);
    await leaves(live, proxy);
    // Longer than the wait would have been.
    await sleep(80);
    expect(up.calls).toHaveLength(1);
  });

  it("one of two that share a run takes only itself away", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    const key = { "idempotency-key": "k" };
    up.next(say("one "), pause(), ...reply("two"));
    const first = startStream(`${proxy.url}/chat/completions`, ask, key);
    await first.until("one ");
    const second = startStream(`${proxy.url}/chat/completions`, ask, key);
    await second.until("one ");
    second.abort();
    await second.done.catch(() => undefined);
    expect(await proxy.finished()).toMatchObject({ outcome: "canceled" });
    up.release();
    expect((await first.done).text()).toBe("one two");
    expect(await proxy.finished(2)).toMatchObject({ outcome: "complete" });
  });
});
