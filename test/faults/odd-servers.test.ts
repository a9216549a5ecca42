import { describe, expect, it } from "vitest";
import { type BareRequest, chunked, http, PLAIN, STOPPED, STREAM_HEAD, said, startBare } from "../support/bare.ts";
import { selfSigned } from "../support/certificate.ts";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { startUpstream } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };

async function streamedFrom(answer: (request: BareRequest) => void) {
  await using up = await startBare(answer);
  await using proxy = await startProxy(up);
  const streamed = await postStream(`${proxy.url}/chat/completions`, ask);
  return { streamed, calls: up.requests.length, end: await proxy.finished() };
}

async function plainFrom(answer: (request: BareRequest) => void) {
  await using up = await startBare(answer);
  await using proxy = await startProxy(up);
  const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
  return { plain, calls: up.requests.length, end: await proxy.finished(), logged: proxy.logged };
}

const whole = { choices: [{ message: { content: "hello" } }] };

describe("servers that speak HTTP oddly", () => {
  it("HTTP/1.0, its body ended by the end of the connection", async () => {
    const { plain, calls } = await plainFrom(({ socket }) =>
      socket.end(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${PLAIN}`),
    );
    expect(plain.json).toMatchObject(whole);
    expect(calls).toBe(1);
    const { streamed } = await streamedFrom(({ socket }) =>
      socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${said("hel", "lo")}${STOPPED}`),
    );
    expect(streamed.text()).toBe("hello");
  });

  it("log probabilities of twenty candidates for each token of a long reply", async () => {
    const candidate = (i: number) => ({ token: ` w${i % 20_000}`, logprob: -1.25, bytes: [32, 119, 49, 55] });
    const content = Array.from({ length: 4_000 }, (_, i) => ({
      ...candidate(i),
      top_logprobs: Array.from({ length: 20 }, (_, j) => candidate(i * 20 + j)),
    }));
    const body = JSON.stringify({
      ...JSON.parse(PLAIN),
      choices: [{ index: 0, message: { content: "hello" }, logprobs: { content }, finish_reason: "stop" }],
    });
    const { plain, calls } = await plainFrom(({ socket }) => socket.write(http(body)));
    expect(plain.bytes.toString()).toBe(body);
    expect(calls).toBe(1);
  });

  it("`Connection: close` after every answer", async () => {
    await using up = await startBare(({ socket }) => socket.end(http(PLAIN, undefined, "connection: close\r\n")));
    await using proxy = await startProxy(up);
    for (let i = 0; i < 3; i++) {
      const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
      expect(plain.json).toMatchObject(whole);
    }
    expect(up.requests).toHaveLength(3);
  });

  it("early hints come before the answer, and are for the connection alone", async () => {
    const { plain } = await plainFrom(({ socket }) =>
      socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n${http(PLAIN)}`),
    );
    expect(plain.json).toMatchObject(whole);
    expect(plain.headers.link).toBeUndefined();
  });

  it("garbage behind the answer spoils the connection, not the reply", async () => {
    await using up = await startBare(({ socket }) => socket.write(`${http(PLAIN)}\r\n\r\nGARBAGE\0\x7f\r\n`));
    await using proxy = await startProxy(up);
    for (let i = 0; i < 3; i++) {
      const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
      expect(plain.json).toMatchObject(whole);
    }
  });

  it("chunk extensions and trailers", async () => {
    const bytes = said("hel", "lo") + STOPPED;
    const { streamed } = await streamedFrom(({ socket }) =>
      socket.write(
        `${STREAM_HEAD}${Buffer.byteLength(bytes).toString(16)};name="a;b"\r\n${bytes}\r\n0\r\nx-checksum: 1\r\n\r\n`,
      ),
    );
    expect(streamed.text()).toBe("hello");
    expect(streamed.ended).toBe(true);
  });

  it("a head and then the end: asked again, then typed", async () => {
    const { plain, calls, end } = await plainFrom(({ socket }) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n"),
    );
    expect(plain.status).toBe(502);
    expect(plain.json).toMatchObject({ error: { code: "upstream_error" } });
    expect(calls).toBe(3);
    expect(end.outcome).toBe("failed");
  });

  it("bytes that are not HTTP", async () => {
    const { plain } = await plainFrom(({ socket }) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
    expect(plain.status).toBe(502);
    expect(plain.json).toMatchObject({ error: { code: "upstream_protocol_error" } });
  });

  it("a chunk that is not as long as it says", async () => {
    const { streamed, end } = await streamedFrom(({ socket, n }) => {
      if (n === 1) socket.write(`${STREAM_HEAD}${chunked(said("hel"))}zz\r\n`);
      else socket.write(http(said("lo") + STOPPED, "text/event-stream"));
    });
    expect(streamed.text()).toBe("hello");
    expect(end).toMatchObject({ outcome: "healed", cause: "upstream_broken" });
  });

  it("header values outside of ASCII reach the client as they were, or not at all", async () => {
    const { plain, calls } = await plainFrom(({ socket }) =>
      socket.write(Buffer.from(http(PLAIN, undefined, "x-model-name: 通义 café\r\n"))),
    );
    expect(plain.json).toMatchObject(whole);
    expect(Buffer.from(String(plain.headers["x-model-name"]), "latin1").toString()).toBe("通义 café");
    expect(calls).toBe(1);
    const { streamed } = await streamedFrom(({ socket }) =>
      socket.write(Buffer.from(http(said("hello") + STOPPED, "text/event-stream", "x-model-name: 通义\r\n"))),
    );
    expect(streamed.text()).toBe("hello");
  });

  it("megabytes of headers", async () => {
    const { plain, end } = await plainFrom(({ socket }) =>
      socket.write(http(PLAIN, undefined, `x-a: ${"a".repeat(1_000_000)}\r\n`)),
    );
    expect(plain.status).toBe(502);
    expect(plain.json).toMatchObject({ error: { code: "upstream_protocol_error" } });
    expect(end.outcome).toBe("failed");
  });

  it("two lengths, or a length and chunks at once", async () => {
    const two = await plainFrom(({ socket }) => socket.write(http(PLAIN, undefined, "content-length: 3\r\n")));
    expect(two.plain.status).toBe(502);
    const both = await plainFrom(({ socket }) =>
      socket.write(http(PLAIN, undefined, "transfer-encoding: chunked\r\n")),
    );
    expect(both.plain.status).toBe(502);
  });

  it("an upstream on IPv6", async () => {
    await using up = await startBare(({ socket }) => socket.write(http(PLAIN)), { host: "::1" });
    await using proxy = await startProxy(up);
    const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(plain.json).toMatchObject(whole);
    expect(up.requests[0]?.head).toMatch(/^host: \[::1\]:\d+$/im);
  });

  it("a certificate that nobody vouches for is typed, says what to do, and is not asked twice", async () => {
    await using up = await startBare(({ socket }) => socket.write(http(PLAIN)), { tls: selfSigned() });
    await using proxy = await startProxy(up);
    const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(plain.status).toBe(502);
    expect(plain.json).toMatchObject({
      error: { code: "upstream_unreachable", lastword: { reason: "DEPTH_ZERO_SELF_SIGNED_CERT" } },
    });
    expect(JSON.stringify(plain.json)).toContain("NODE_EXTRA_CA_CERTS");
    expect(proxy.events.filter((event) => event.type === "attempt_ended")).toHaveLength(1);
  });

  it("TLS is asked of a server that does not speak it", async () => {
    await using up = await startUpstream({ dialect: "vllm" });
    await using proxy = await startProxy({ url: up.url.replace("http:", "https:"), dialect: up.dialect });
    const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(plain.json).toMatchObject({ error: { code: "upstream_unreachable" } });
    expect(proxy.events.filter((event) => event.type === "attempt_ended")).toHaveLength(1);
  });
});
