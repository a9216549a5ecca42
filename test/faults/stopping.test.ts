import { describe, expect, it } from "vitest";
import { get, postPlain, startStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, pause, reply, say, stall, startUpstream, status, tool } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };

describe("stopping: what has not ended after drainSeconds is ended honestly", () => {
  it("a reply under way is told as cut, with everything that it had", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say("one "), stall());
    const live = startStream(`${proxy.url}/chat/completions`, ask);
    await live.until("one ");
    await proxy.close();
    const got = await live.done;
    expect(got.broken).toBe(false);
    expect(got.ended).toBe(true);
    expect(got.text()).toBe("one ");
    expect(got.finish()).toBe("length");
    expect(got.chunks.at(-1)).toMatchObject({ lastword: { outcome: "cut_off", code: "deadline_exceeded" } });
    expect(await up.calls[0]?.ended).toBe("aborted");
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", code: "deadline_exceeded" });
  });

  it("so on every wire, by its own terminal event", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    const bodies = {
      "/completions": { model: "m", prompt: "hello" },
      "/responses": { model: "m", input: "hello" },
      "/messages": { ...ask, max_tokens: 1000 },
    };
    const lives = Object.entries(bodies).map(([path, body]) => {
      up.next(say("one "), stall());
      return startStream(proxy.url + path, body);
    });
    await Promise.all(lives.map((live) => live.until("one ")));
    await proxy.close();
    for (const live of lives) {
      const got = await live.done;
      expect(got.broken).toBe(false);
      expect(got.ended || got.events.length > 0).toBe(true);
      expect(got.text()).toBe("one ");
      expect(got.finish()).toMatch(/^(?:length|incomplete|max_tokens)$/);
    }
  });

  it("with healing off it ends with the one error of the stream", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say("one "), stall());
    const live = startStream(`${proxy.url}/chat/completions`, ask, { "x-lastword-heal": "off" });
    await live.until("one ");
    await proxy.close();
    const got = await live.done;
    expect(got.broken).toBe(false);
    expect(got.ended).toBe(true);
    expect(got.chunks.at(-1)).toMatchObject({ error: { code: "deadline_exceeded" } });
  });

  it("half a tool call is not delivered", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say("one "), tool(0, { id: "t", name: "f" }, '{"a"'), pause("sent"), stall());
    const live = startStream(`${proxy.url}/chat/completions`, ask);
    await live.until("one ");
    await up.reached("sent");
    await proxy.close();
    const got = await live.done;
    expect(got.toolArgs()).toEqual([]);
    expect(got.finish()).toBe("length");
  });

  it("what has not begun to answer gets the typed error over HTTP: asked, waiting to ask again, in line, uploading", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { maxInflight: 2 }, recovery: { retryBackoffSeconds: [30] } });
    up.next(stall());
    up.next(status(503, { error: { message: "busy" } }));
    const url = `${proxy.url}/chat/completions`;
    const asked = postPlain(url, ask);
    await up.call();
    const waiting = postPlain(url, ask);
    while (!proxy.services.board.snapshot().live.some((live) => live.phase === "waiting"))
      await new Promise(setImmediate);
    const queued = postPlain(url, ask);
    while (proxy.services.server("up").slots.waiting === 0) await new Promise(setImmediate);
    const uploading = startStream(url, ask, { "content-length": "1000" }).done;
    while (proxy.services.running.size < 4) await new Promise(setImmediate);
    await proxy.close();
    for (const plain of [await asked, await waiting, await queued]) {
      expect(plain.status).toBe(504);
      expect(plain.json).toMatchObject({ error: { code: "deadline_exceeded", lastword: { drain_seconds: 0 } } });
    }
    expect((await uploading).status).toBe(504);
    expect(proxy.events.filter((event) => event.type === "finished" && event.outcome === "failed")).toHaveLength(4);
  });

  it("readers of a shared run see its end", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say("one "), stall());
    const key = { "idempotency-key": "k" };
    const first = startStream(`${proxy.url}/chat/completions`, ask, key);
    await first.until("one ");
    const second = startStream(`${proxy.url}/chat/completions`, ask, key);
    await second.until("one ");
    await proxy.close();
    for (const got of [await first.done, await second.done]) {
      expect(got.broken).toBe(false);
      expect(got.finish()).toBe("length");
    }
  });

  it("a client that reads nothing does not hold the stop back", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    const big = "x".repeat(1_000_000);
    up.next(...Array.from({ length: 40 }, () => say(big)), finish("stop"), done());
    const { connect } = await import("node:net");
    const body = JSON.stringify({ ...ask, stream: true });
    const socket = connect(Number(new URL(proxy.root).port), "127.0.0.1");
    socket.pause();
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    while (proxy.services.board.snapshot().live[0]?.phase !== "flowing") await new Promise(setImmediate);
    await proxy.close();
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
    socket.destroy();
  });
});

describe("reloading", () => {
  it("a request under way keeps its configuration, the next has the new one", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using other = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(say("one "), pause(), finish("length"), done());
    up.next(say("two"), finish("stop"), done());
    other.next(...reply("elsewhere"));
    const live = startStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 100 });
    await live.until("one ");
    const config = proxy.services.config();
    const upstreams = config.upstreams.map((upstream) => ({ ...upstream, url: other.url }));
    proxy.services.reload({
      ...config,
      upstreams,
      revision: "next",
      listen: { ...config.listen, keys: ["new"] },
      recovery: { ...config.recovery, heal: false },
    });
    up.release();
    expect((await live.done).text()).toBe("one two");
    expect(up.calls).toHaveLength(2);
    expect((await postPlain(`${proxy.url}/chat/completions`, ask)).status).toBe(401);
    const next = await postPlain(`${proxy.url}/chat/completions`, ask, { "x-api-key": "new" });
    expect(next.json).toMatchObject({ choices: [{ message: { content: "elsewhere" } }] });
    expect(up.calls).toHaveLength(2);
    expect((await get(`${proxy.root}/status`, { "x-api-key": "new" })).json).toMatchObject({ revision: "next" });
  });
});
