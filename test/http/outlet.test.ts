import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { type BareRequest, chunked, STOPPED, STREAM_HEAD, said, startBare } from "../support/bare.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { readSse } from "../support/sse.ts";

interface Answer {
  readonly head: string;
  readonly body: string;
}

/** Answers on one connection, to the letter of RFC 9112; those that are not whole yet are left out. */
function answersIn(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end === -1) return answers;
    const head = bytes.toString("latin1", at, end);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    at = end + 4;
    if (!/^transfer-encoding: chunked$/im.test(head))
      return [...answers, { head, body: bytes.subarray(at).toString() }];
    const pieces: Buffer[] = [];
    for (let size = -1; size !== 0; ) {
      const line = bytes.indexOf("\r\n", at);
      if (line === -1) return answers;
      const digits = bytes.toString("latin1", at, line);
      expect(digits).toMatch(/^[0-9a-f]+$/);
      size = Number.parseInt(digits, 16);
      at = line + 2 + size;
      if (at + 2 > bytes.length) return answers;
      pieces.push(bytes.subarray(line + 2, at));
      expect(bytes.toString("latin1", at, at + 2)).toBe("\r\n");
      at += 2;
    }
    answers.push({ head, body: Buffer.concat(pieces).toString() });
  }
}

const textOf = ({ body }: Answer) =>
  readSse(body)
    .filter(({ data }) => data.startsWith("{"))
    .map(({ data }) => JSON.parse(data).choices[0].delta.content ?? "")
    .join("");

/** A client on a connection of its own that sees every byte. */
function client(proxy: Lastword) {
  const socket = connect(Number(new URL(proxy.root).port), "127.0.0.1");
  let all = Buffer.alloc(0);
  socket.on("data", (bytes) => {
    all = Buffer.concat([all, bytes]);
  });
  return {
    socket,
    ask: (user: string, more: { readonly version?: string; readonly headers?: readonly string[] } = {}) => {
      const body = JSON.stringify({ model: "m", stream: true, user, messages: [{ role: "user", content: "hello" }] });
      const { version = "1.1", headers = [] } = more;
      const head = [`POST /v1/chat/completions HTTP/${version}`, "host: 127.0.0.1", `content-length: ${body.length}`];
      socket.write(`${[...head, ...headers].join("\r\n")}\r\n\r\n${body}`);
    },
    async answers(n: number): Promise<Answer[]> {
      while (answersIn(all).length < n) await once(socket, "data");
      return answersIn(all);
    },
    async closed(): Promise<Answer[]> {
      await once(socket, "close");
      return answersIn(all);
    },
  };
}

/** Each text an event in a turn of its own, or all in as few as the kernel makes of them. */
async function speak({ socket }: BareRequest, texts: readonly string[], apart = true): Promise<void> {
  socket.write(STREAM_HEAD);
  for (const text of texts) {
    socket.write(chunked(said(text)));
    if (apart) for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  }
  socket.write(`${chunked(STOPPED)}0\r\n\r\n`);
}

const WORDS = Array.from({ length: 40 }, (_, n) => `wörd 😀 ${n} `);
const LARGE = Array.from({ length: 60 }, (_, n) => `${n}${"é".repeat(9_000)}`);

describe("a stream as it stands on the wire", () => {
  it("is one whole answer after the other where requests are pipelined, and the connection serves on", async () => {
    await using up = await startBare(
      (request) => void speak(request, request.body.includes("large") ? LARGE : WORDS, !request.body.includes("large")),
    );
    await using proxy = await startProxy(up);
    const { ask, answers, socket } = client(proxy);
    for (const user of ["words", "large", "words"]) ask(user);
    await answers(3);
    ask("words");
    const told = (await answers(4)).map(textOf);
    expect(told.map((text) => text === LARGE.join("") || text)).toEqual([
      WORDS.join(""),
      true,
      WORDS.join(""),
      WORDS.join(""),
    ]);
    socket.destroy();
  });

  it.each([
    ["HTTP/1.0", "1.0", [], false],
    ["HTTP/1.0 that would be kept alive", "1.0", ["connection: keep-alive"], false],
    ["`Connection: close`", "1.1", ["connection: close"], true],
  ])("is whole for %s", async (_, version, headers, framed) => {
    await using up = await startBare((request) => void speak(request, WORDS));
    await using proxy = await startProxy(up);
    const { ask, closed } = client(proxy);
    ask("words", { version, headers });
    const [answer = expect.fail()] = await closed();
    expect(textOf(answer)).toBe(WORDS.join(""));
    expect(/transfer-encoding/i.test(answer.head)).toBe(framed);
  });

  it.each([
    ["in turns of their own", true],
    ["all at once", false],
  ])("keeps the order of small and large pieces that come %s", async (_, apart) => {
    const texts = ["a", "b", "L".repeat(40_000), "c", "é".repeat(20_000), "d", "x".repeat(16_240), "e", "f"];
    await using up = await startBare((request) => void speak(request, texts, apart));
    await using proxy = await startProxy(up);
    const { ask, answers, socket } = client(proxy);
    ask("words");
    expect((await answers(1)).map(textOf)).toEqual([texts.join("")]);
    socket.destroy();
  });

  it("is whole for each who reads a recording", async () => {
    await using up = await startBare((request) => void speak(request, WORDS));
    await using proxy = await startProxy(up);
    const first = client(proxy);
    first.ask("words", { headers: ["idempotency-key: k"] });
    await once(first.socket, "data");
    const second = client(proxy);
    second.ask("words", { headers: ["idempotency-key: k"] });
    for (const { answers, socket } of [first, second]) {
      expect((await answers(1)).map(textOf)).toEqual([WORDS.join("")]);
      socket.destroy();
    }
    expect(up.requests).toHaveLength(1);
  });

  it("ends as it should where lastword is stopped", async () => {
    await using up = await startBare(({ socket }) => void socket.write(STREAM_HEAD + chunked(said("one "))));
    const proxy = await startProxy(up);
    const { ask, closed, socket } = client(proxy);
    ask("words");
    await once(socket, "data");
    const end = closed();
    await proxy.stop(0);
    const [answer = expect.fail()] = await end;
    expect(readSse(answer.body).at(-2)?.data).toContain('"outcome":"cut_off"');
    expect(readSse(answer.body).at(-1)?.data).toBe("[DONE]");
    await proxy.services.close();
  });
});
