import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type BareRequest, chunked, STOPPED, STREAM_HEAD, said, startBare } from "../support/bare.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";

const PIECE = chunked(said("x".repeat(60_000)));
const PIECES = 1_500;
/** What kernels and pipes between the two ends hold, many times over. */
const MOST_ON_THE_WAY = 30_000_000;

/** Writes as much as it gets rid of, and counts it. */
function pump({ socket }: BareRequest, sent: { bytes: number }): void {
  let left = PIECES;
  const write = () => {
    for (; left > 0; left--) {
      sent.bytes += PIECE.length;
      if (!socket.write(PIECE)) break;
    }
    if (left-- > 0) return;
    socket.off("drain", write);
    socket.write(`${chunked(STOPPED)}0\r\n\r\n`);
  };
  socket.on("drain", write);
  write();
}

/** A client that sends a request and reads nothing until it is asked to. */
function mute(proxy: Lastword, headers: readonly string[] = []): Socket {
  const body = JSON.stringify({
    model: "m",
    stream: true,
    max_tokens: 100,
    messages: [{ role: "user", content: "hello" }],
  });
  const socket = connect(Number(new URL(proxy.root).port), "127.0.0.1");
  socket.on("error", () => undefined);
  socket.setEncoding("utf8");
  socket.pause();
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: 127.0.0.1",
    "connection: close",
    `content-length: ${body.length}`,
  ];
  socket.write(`${[...head, ...headers].join("\r\n")}\r\n\r\n${body}`);
  return socket;
}

/** Resolves once no more is sent. */
async function still(sent: { readonly bytes: number }): Promise<void> {
  for (let before = -1; before !== sent.bytes; ) {
    before = sent.bytes;
    await sleep(300);
  }
}

const WORDS = Array.from({ length: 1_500_000 }, (_, n) => `word ${n}, `).join("");
const CUT = chunked(
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: "length" }] })}\n\ndata: [DONE]\n\n`,
);

afterEach(() => void vi.restoreAllMocks());

describe("a client that does not read", () => {
  it.each([
    ["the first pass", 1, []],
    ["a later pass", 2, []],
    ["a pass that is not healed", 1, ["x-lastword-heal: off"]],
  ] as const)(
    "holds back the upstream of %s, and not memory; it gets everything once it reads",
    async (_name, pass, headers) => {
      const sent = { bytes: 0 };
      await using up = await startBare((request) => {
        request.socket.write(STREAM_HEAD);
        if (request.n < pass) request.socket.write(`${chunked(said(WORDS))}${CUT}0\r\n\r\n`);
        else pump(request, sent);
      });
      await using proxy = await startProxy(up, { recovery: { maxReplyTokens: 100_000_000 } });
      const socket = mute(proxy, headers);
      while (sent.bytes === 0) await sleep(10);
      await still(sent);
      expect(sent.bytes).toBeLessThan(MOST_ON_THE_WAY);
      let received = 0;
      socket.on("data", (chunk) => {
        received += chunk.length;
      });
      socket.resume();
      await once(socket, "close");
      expect(sent.bytes).toBe(PIECES * PIECE.length);
      expect(received).toBeGreaterThan(PIECES * 60_000);
      expect(up.requests).toHaveLength(pass);
    },
  );

  it.each([100, 16_000, 17_000, 70_000])(
    "or little at a time has everything once, in pieces of %i bytes and of few",
    async (size) => {
      const pieces = Math.ceil(2_000_000 / size);
      await using up = await startBare(({ socket }) => {
        socket.write(STREAM_HEAD);
        for (let i = 0; i < pieces; i++) socket.write(chunked(said("x".repeat(size))) + chunked(said("é")));
        socket.write(`${chunked(STOPPED)}0\r\n\r\n`);
      });
      await using proxy = await startProxy(up);
      const socket = mute(proxy);
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
        socket.pause();
        setTimeout(() => socket.resume(), 2);
      });
      socket.resume();
      await once(socket, "close");
      expect(text.match(/x{50,}/g)?.join("").length).toBe(pieces * size);
      expect(text.match(/"é"/g)).toHaveLength(pieces);
      expect(text.endsWith("0\r\n\r\n")).toBe(true);
    },
  );

  it("is given up after ten minutes, and its upstream with it", async () => {
    const sent = { bytes: 0 };
    await using up = await startBare((request) => {
      request.socket.write(STREAM_HEAD);
      pump(request, sent);
    });
    await using proxy = await startProxy(up, { limits: { firstByteSeconds: 5, idleSeconds: 0.5 } });
    const limits: (() => void)[] = [];
    const timeout = globalThis.setTimeout;
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms?: number) => {
      if (ms === 600_000) limits.push(act);
      return timeout(act, ms);
    }) as typeof setTimeout);
    const socket = mute(proxy);
    while (limits.length === 0) await sleep(10);
    await still(sent);
    expect(up.requests[0]?.socket.destroyed).toBe(false);
    limits[0]?.();
    expect(await proxy.finished()).toMatchObject({ outcome: "canceled" });
    expect(sent.bytes).toBeLessThan(MOST_ON_THE_WAY);
    while (up.requests[0]?.socket.destroyed === false) await sleep(10);
    socket.destroy();
  });
});
