import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startBare } from "../support/bare.ts";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import {
  comment,
  done,
  finish,
  headers,
  reply,
  role,
  say,
  stall,
  startUpstream,
  status,
  usage,
  wait,
} from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };
const after = (seconds: number) => ({ "x-lastword-deadline": String(seconds) });
const busy = status(503, { error: { message: "busy" } });

describe("the deadline", () => {
  it("ends a request that was not answered, with its numbers", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    await postPlain(`${proxy.url}/chat/completions`, ask); // knows the server from here on
    for (const stream of [true, false]) {
      up.next(stall());
      const plain = await postPlain(`${proxy.url}/chat/completions`, { ...ask, stream }, after(0.4));
      expect(plain.status).toBe(504);
      expect(plain.json).toMatchObject({
        error: { type: "timeout_error", code: "deadline_exceeded", lastword: { deadline_seconds: 0.4, attempts: 1 } },
      });
      expect(plain.headers["x-lastword-outcome"]).toBe("failed");
    }
    expect(await up.calls[2]?.ended).toBe("aborted");
  });

  it("is one for all attempts and waits", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, {
      recovery: { retryBackoffSeconds: Array(10).fill(0.3), minAttemptSeconds: 0.1, deadlineSeconds: 1.1 },
    });
    up.handle(() => [busy]);
    const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
    // The last answer is relayed once no further wait fits, of ten three at most; an attempt under way may be caught by the deadline.
    expect([503, 504]).toContain(plain.status);
    expect(up.calls.length).toBeLessThanOrEqual(4);
  });

  it("does not cut what is flowing, but begins nothing after it", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { deadlineSeconds: 1, minAttemptSeconds: 0 } });
    up.next(say("one "), wait(1_300), say("two"), finish("length"), usage(5, 100), done());
    const got = await postStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 100 });
    expect(got.text()).toBe("one two");
    expect(got.finish()).toBe("length");
    expect(got.chunks.at(-1)).toMatchObject({ lastword: { outcome: "cut_off", code: "insufficient_remaining_time" } });
    expect(up.calls).toHaveLength(1);
  });

  it("cuts what is flowing where the client set it, or the config says that it is hard", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using soft = await startProxy(up);
    await using hard = await startProxy(up, { recovery: { deadlineSeconds: 1, deadlineHard: true } });
    for (const [proxy, header] of [[soft, after(1)] as const, [hard, {}] as const]) {
      up.next(say("one "), stall());
      const got = await postStream(`${proxy.url}/chat/completions`, ask, header);
      expect(got.text()).toBe("one ");
      expect(got.finish()).toBe("length");
      expect(got.chunks.at(-1)).toMatchObject({ lastword: { outcome: "cut_off", code: "deadline_exceeded" } });
      expect(await up.calls.at(-1)?.ended).toBe("aborted");
    }
  });

  it("after the first byte it is told in the stream where the config wants errors", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { onExhausted: "error" } });
    up.next(say("one "), stall());
    const got = await postStream(`${proxy.url}/chat/completions`, ask, after(1));
    expect(got.finish()).toBe(null);
    expect(got.ended).toBe(true);
    expect(got.chunks.at(-1)).toMatchObject({ error: { code: "deadline_exceeded" } });
  });

  it("leaves no attempt that cannot be worth it: too little time is told as such", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { recovery: { minAttemptSeconds: 5 } });
    up.next(say("one "), finish("length"), usage(5, 100), done());
    const got = await postStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 100 }, after(4));
    expect(got.finish()).toBe("length");
    expect(got.chunks.at(-1)).toMatchObject({ lastword: { code: "insufficient_remaining_time" } });
    expect(up.calls).toHaveLength(1);
  });

  it("B84: a Retry-After that does not fit is relayed at once", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up);
    up.next(status(429, { error: { message: "slow down" } }, { "retry-after": "2" }));
    const plain = await postPlain(`${proxy.url}/chat/completions`, ask, after(1.5));
    expect(plain.status).toBe(429);
    expect(plain.headers["retry-after"]).toBe("2");
    expect(up.calls).toHaveLength(1);
  });
});

describe("silence of the upstream", () => {
  it("before the first output is upstream_stalled; comments and a role are no output", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { firstByteSeconds: 0.8 } });
    const scripts = [
      [stall()],
      [headers(), stall()],
      [role(), stall()],
      [comment("a"), wait(300), comment("b"), wait(300), comment("c"), wait(300), comment("d"), stall()],
    ];
    for (const script of scripts) {
      up.next(...script);
      const plain = await postPlain(`${proxy.url}/chat/completions`, { ...ask, stream: true });
      expect(plain.status).toBe(504);
      expect(plain.json).toMatchObject({
        error: { code: "upstream_stalled", lastword: { limit: "firstByteSeconds", seconds: 0.8 } },
      });
    }
    // A server that is that slow is not asked again.
    expect(up.calls).toHaveLength(scripts.length);
  });

  it("of a plain reply is upstream_stalled too, and every byte of its body breaks it", async () => {
    await using up = await startBare(({ socket, body, n }) => {
      if (n === 1) return;
      const answer = JSON.stringify({
        choices: [{ message: { role: "assistant", content: body.length }, finish_reason: "stop" }],
      });
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n`);
      let sent = 0;
      const timer = setInterval(() => {
        socket.write(answer.slice(sent, sent + 8));
        sent += 8;
        if (sent >= answer.length) clearInterval(timer);
      }, 100);
    });
    await using proxy = await startProxy(up, { limits: { firstByteSeconds: 0.8, idleSeconds: 0.8 } });
    const silent = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(silent.json).toMatchObject({ error: { code: "upstream_stalled" } });
    const slow = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(slow.status).toBe(200);
  });

  it("within a reply: what was received is gone on with", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { idleSeconds: 0.5 } });
    up.next(say("one "), stall());
    up.next(...reply("two"));
    const got = await postStream(`${proxy.url}/chat/completions`, ask);
    expect(got.text()).toBe("one two");
    expect(got.finish()).toBe("stop");
    expect(await up.calls[0]?.ended).toBe("aborted");
    expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "upstream_broken" });
  });

  it("B60: comments within a reply are signs of life", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { idleSeconds: 0.8 } });
    const alive = [comment("x"), wait(250)];
    up.next(say("one "), ...alive, ...alive, ...alive, ...alive, ...alive, ...reply("two"));
    expect((await postStream(`${proxy.url}/chat/completions`, ask)).text()).toBe("one two");
    expect(up.calls).toHaveLength(1);
  });

  it("a client that reads slowly is not the upstream's silence", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy(up, { limits: { idleSeconds: 1 } });
    const piece = "x".repeat(200_000);
    up.next(...Array.from({ length: 60 }, () => say(piece)), finish("stop"), done());
    const body = JSON.stringify({ ...ask, stream: true });
    const socket = connect(Number(new URL(proxy.root).port), "127.0.0.1");
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, "readable");
    await sleep(1_500);
    let size = 0;
    for await (const chunk of socket) size += (chunk as Buffer).length;
    expect(size).toBeGreaterThan(60 * piece.length);
    expect(up.calls).toHaveLength(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "complete" });
  });

  it("a connection that does not come about is upstream_unreachable", async () => {
    await using up = await startBare(() => undefined);
    // It listens, and never says a word of TLS.
    const url = up.url.replace("http:", "https:");
    await using proxy = await startProxy(
      { url, dialect: "vllm" },
      { limits: { connectSeconds: 0.1 }, recovery: { retryBackoffSeconds: [] } },
    );
    const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(plain.status).toBe(502);
    expect(plain.json).toMatchObject({
      error: { code: "upstream_unreachable", lastword: { reason: "UND_ERR_CONNECT_TIMEOUT" } },
    });
  });
});
