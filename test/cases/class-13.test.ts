import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { get, postPlain } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { startUpstream, status } from "../support/upstream.ts";
import { ask, stage, whole } from "./stage.ts";

const generic = { dialect: "generic", window: null } as const;

/** Sends a head as it is, with the body of a chat request, and reads the whole answer. */
async function sent(root: string, requestLine: string, headers: readonly string[] = []): Promise<string> {
  const { hostname, port } = new URL(root);
  const body = JSON.stringify(ask);
  const socket = connect(Number(port), hostname);
  const all = [
    requestLine,
    ...headers,
    "content-type: application/json",
    `content-length: ${body.length}`,
    "connection: close",
  ];
  socket.end(`${all.join("\r\n")}\r\n\r\n${body}`);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  socket.on("error", () => undefined);
  await once(socket, "close");
  return text;
}

describe("auth and exposure", () => {
  it("B94: a page of another origin gets neither an answer nor a header that lets it read one", async () => {
    const { up, proxy } = await stage(generic);
    const origin = "https://evil.example";
    const url = `${proxy.url}/chat/completions`;
    const preflight = await get(url, { origin, "access-control-request-method": "POST" }, "OPTIONS");
    const simple = await postPlain(url, ask, { origin, "content-type": "text/plain" });
    const marked = await postPlain(url, ask, { "sec-fetch-site": "cross-site", "content-type": "text/plain" });
    for (const got of [preflight, simple, marked]) {
      expect(got.status).toBe(403);
      expect(got.headers).not.toHaveProperty("access-control-allow-origin");
    }
    expect(simple.json).toMatchObject({ error: { type: "permission_error", code: "origin_not_allowed" } });
    expect(up.calls).toHaveLength(0);
    up.next(...whole("ok"));
    expect((await postPlain(url, ask)).status).toBe(200);
  });

  it("B95: with a key set, all but the health checks want it", async () => {
    const { up, proxy } = await stage(generic, { listen: { keys: ["T-one"] } });
    up.handle(() => whole("ok"));
    for (const path of ["/v1/models", "/metrics", "/status", "/"])
      expect((await get(proxy.root + path)).status).toBe(401);
    const health = await get(`${proxy.root}/healthz`);
    expect(health.status).toBe(200);
    expect(health.bytes.toString()).not.toContain(up.url);
    expect((await get(`${proxy.root}/metrics`, { authorization: "Bearer T-one" })).status).toBe(200);
    expect((await postPlain(`${proxy.url}/chat/completions`, ask)).status).toBe(401);
    expect(up.calls).toHaveLength(0);
  });

  it("B96: the upstream gets its own key, and nothing of the client's", async () => {
    const { up } = await stage(generic);
    const upstreams = [{ name: "up", url: up.url, dialect: "generic", key: "K-up" }];
    const proxy = await startProxy(up, { listen: { keys: ["T-in"] }, upstreams });
    up.handle(() => whole("ok"));
    const credentials = {
      authorization: "Bearer T-in",
      "x-api-key": "T-in",
      cookie: "a=T-in",
      "proxy-authorization": "Basic T-in",
    };
    for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/embeddings"])
      await postPlain(proxy.root + path, { ...ask, max_tokens: 100 }, credentials);
    await proxy.close();
    const all = [...up.calls, ...up.queries];
    expect(all.length).toBeGreaterThanOrEqual(3);
    for (const { headers } of all) {
      expect(headers.authorization).toBe("Bearer K-up");
      expect(JSON.stringify(headers)).not.toContain("T-in");
    }
  });

  it("B96: a client's own key goes on only where none was asked of it", async () => {
    const { up, proxy } = await stage(generic);
    up.handle(() => whole("ok"));
    await postPlain(`${proxy.url}/chat/completions`, ask, { authorization: "Bearer C-own" });
    expect(up.calls[0]?.headers.authorization).toBe("Bearer C-own");
    const keyed = await startProxy(up, { listen: { keys: ["T-in"] } });
    await postPlain(`${keyed.url}/chat/completions`, ask, { authorization: "Bearer T-in" });
    await keyed.close();
    expect(up.calls[1]?.headers).not.toHaveProperty("authorization");
  });

  describe("B97: where a request goes", () => {
    it("B97: is no matter of its fields, its headers or its target", async () => {
      await using canary = await startUpstream(generic);
      const { up, proxy } = await stage(generic);
      up.handle(() => whole("ok"));
      const fields = { api_base: canary.url, base_url: canary.url, api_key: "sk-x" };
      const headers = { "x-upstream-url": canary.url, "x-forwarded-host": new URL(canary.url).host };
      await postPlain(`${proxy.url}/chat/completions`, { ...ask, ...fields }, headers);
      expect(up.calls).toHaveLength(1);
      expect(up.calls[0]?.headers.authorization ?? "").not.toContain("sk-x");
      const { host } = new URL(proxy.root);
      await sent(proxy.root, `POST ${canary.url}/chat/completions HTTP/1.1`, [`host: ${host}`]);
      await sent(proxy.root, "POST /v1/chat/completions HTTP/1.1", [`host: ${new URL(canary.url).host}.evil.example`]);
      expect(canary.connections).toBe(0);
    });

    it.each(["/v1/../admin", "/v1//evil", "/v1/%2e%2e/admin", "/v1/..%2fadmin", "//evil.example/v1/models"])(
      "B97: %s is no path",
      async (path) => {
        const { up, proxy } = await stage(generic);
        const { host } = new URL(proxy.root);
        const answer = await sent(proxy.root, `POST ${path} HTTP/1.1`, [`host: ${host}`]);
        expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
        expect(
          [...up.calls, ...up.queries].some((call) => call.path.includes("admin") || call.path.includes("evil")),
        ).toBe(false);
      },
    );
  });

  it.each([301, 307, 308])("B98: a redirect, %i, is not followed, to another server or to the same", async (code) => {
    await using canary = await startUpstream(generic);
    const { up } = await stage(generic);
    const upstreams = [{ name: "up", url: up.url, dialect: "generic", key: "K-up" }];
    const proxy = await startProxy(up, { upstreams });
    for (const location of [`${canary.url}/chat/completions`, `${up.url}/elsewhere`, "/v1/elsewhere"]) {
      up.handle(() => [status(code, "", { location })]);
      up.on("GET /v1/models", () => ({ status: code, text: "", headers: { location } }));
      const got = await postPlain(`${proxy.url}/chat/completions`, ask);
      expect(got.status).toBe(502);
      expect(got.json).toMatchObject({ error: { type: "upstream_error", code: "upstream_protocol_error" } });
      expect(got.headers).not.toHaveProperty("location");
      await get(`${proxy.url}/embeddings`);
    }
    await proxy.close();
    expect(canary.connections).toBe(0);
    expect(up.queries.some((call) => call.path.includes("elsewhere"))).toBe(false);
  });
});
