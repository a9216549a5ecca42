import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { createGuard } from "../../src/http/guard.ts";

type Listen = Parameters<typeof createGuard>[0];

const listen = (more: Partial<Listen> = {}): Listen => ({
  host: "127.0.0.1",
  port: 4747,
  keys: [],
  allowedHosts: [],
  allowedOrigins: [],
  ...more,
});

const request = (headers: IncomingHttpHeaders, method = "POST", path = "/v1/chat/completions") => ({
  method,
  path,
  headers: { host: "localhost:4747", ...headers },
});

/** The refusal's code, or null where the request is let in. */
function verdict(settings: Partial<Listen>, ...asked: Parameters<typeof request>): string | null {
  return createGuard(listen(settings)).check(request(...asked))?.code ?? null;
}

const EVIL = "https://evil.example";

describe("host names (DNS rebinding)", () => {
  test.each([
    "localhost",
    "localhost:4747",
    "LOCALHOST.",
    "app.localhost:1",
    "127.0.0.1:4747",
    "127.9.9.9",
    "[::1]:4747",
    "host.docker.internal:4747",
  ])("bound to loopback, %s is local", (host) => {
    expect(verdict({}, { host })).toBeNull();
  });

  test.each([
    "evil.example",
    "evil.example:4747",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "notlocalhost",
    "192.168.0.7",
    "169.254.169.254",
    "localhost@evil.example",
    "localhost, evil.example",
    "",
    "[::1",
  ])("bound to loopback, %s is not", (host) => {
    expect(verdict({}, { host })).toBe("host_not_allowed");
  });

  test("bound elsewhere, any name is fine until names are listed", () => {
    expect(verdict({ host: "0.0.0.0" }, { host: "my-box.lan:4747" })).toBeNull();
    const listed = { host: "0.0.0.0", allowedHosts: ["Proxy.example.org", "*.lan", "::1"] };
    expect(verdict(listed, { host: "proxy.example.org:80" })).toBeNull();
    expect(verdict(listed, { host: "a.b.lan" })).toBeNull();
    expect(verdict(listed, { host: "lan" })).toBe("host_not_allowed");
    expect(verdict(listed, { host: "evil.example" })).toBe("host_not_allowed");
    // Probes call by address, and an address cannot be rebound.
    expect(verdict(listed, { host: "10.1.2.3:4747" })).toBeNull();
  });

  test("a listed name is added to the local ones", () => {
    expect(verdict({ allowedHosts: ["laptop.lan"] }, { host: "laptop.lan" })).toBeNull();
    expect(verdict({ allowedHosts: ["laptop.lan"] }, { host: "localhost" })).toBeNull();
    expect(verdict({ allowedHosts: ["laptop.lan"] }, { host: "evil.example" })).toBe("host_not_allowed");
  });

  test("the probes are no way around it", () => {
    expect(verdict({}, { host: "evil.example" }, "GET", "/healthz")).toBe("host_not_allowed");
  });

  test("B97: a forwarded host changes nothing", () => {
    expect(verdict({}, { "x-forwarded-host": "evil.example" })).toBeNull();
  });
});

describe("B94: pages of other origins", () => {
  test("preflight and plain POST of a foreign page are refused, without CORS headers", () => {
    const guard = createGuard(listen());
    const preflight = request({ origin: EVIL, "access-control-request-method": "POST" }, "OPTIONS");
    const post = request({ origin: EVIL, "content-type": "text/plain" });
    for (const asked of [preflight, post]) {
      expect(guard.check(asked)?.code).toBe("origin_not_allowed");
      expect(guard.cors(asked)).toEqual({});
    }
  });

  test.each([
    "null",
    "http://localhost:3000",
    "http://127.0.0.1:4747",
    "file://",
    "localhost:4747",
    "https://localhost:4747.evil.example",
  ])("%s is not its own page", (origin) => {
    expect(verdict({}, { origin })).toBe("origin_not_allowed");
  });

  test("its own page is let in, also behind TLS", () => {
    expect(verdict({}, { origin: "http://localhost:4747" })).toBeNull();
    const behind = { host: "proxy.example.org", origin: "https://proxy.example.org" };
    expect(verdict({ allowedHosts: ["proxy.example.org"] }, behind)).toBeNull();
  });

  test("without Origin: clients that are no browsers, yes; cross-site requests of browsers, no", () => {
    expect(verdict({}, {})).toBeNull();
    expect(verdict({}, { "sec-fetch-site": "same-origin" }, "GET")).toBeNull();
    expect(verdict({}, { "sec-fetch-site": "none" }, "GET", "/")).toBeNull();
    expect(verdict({}, { "sec-fetch-site": "cross-site" }, "GET", "/v1/models")).toBe("origin_not_allowed");
  });

  test("a link to the dashboard may be followed, a frame of it may not", () => {
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect(verdict({}, link, "GET", "/")).toBeNull();
    expect(verdict({}, { ...link, "sec-fetch-dest": "iframe" }, "GET", "/")).toBe("origin_not_allowed");
    expect(verdict({}, link, "GET", "/status")).toBe("origin_not_allowed");
    expect(verdict({}, link, "POST", "/")).toBe("origin_not_allowed");
  });

  test("a listed origin gets CORS headers, and with a preflight what it asked for", () => {
    const guard = createGuard(listen({ allowedOrigins: ["https://app.example"], keys: ["T"] }));
    const preflight = request(
      {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
        "access-control-request-private-network": "true",
      },
      "OPTIONS",
    );
    expect(guard.check(preflight)).toBeNull();
    expect(guard.isPreflight(preflight)).toBe(true);
    expect(guard.cors(preflight)).toEqual({
      "access-control-allow-origin": "https://app.example",
      "access-control-expose-headers": "*",
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": "authorization, content-type",
      "access-control-allow-private-network": "true",
      "access-control-max-age": "600",
      vary: "origin",
    });
    const post = request({ origin: "https://app.example" });
    // The page may read why it was refused.
    expect(guard.check(post)?.code).toBe("unauthorized");
    expect(guard.cors(post)).toMatchObject({ "access-control-allow-origin": "https://app.example", vary: "origin" });
    expect(guard.isPreflight(request({}, "OPTIONS"))).toBe(false);
  });

  test('"*" lists every origin', () => {
    expect(verdict({ allowedOrigins: ["*"] }, { origin: "null" })).toBeNull();
    expect(verdict({ allowedOrigins: ["*"] }, { "sec-fetch-site": "cross-site" }, "GET", "/v1/models")).toBe(
      "origin_not_allowed",
    );
  });
});

describe("B95, B96: inbound keys", () => {
  const keyed = { keys: ["T-one", "T-two"] };

  test.each<[string, IncomingHttpHeaders]>([
    ["Bearer", { authorization: "Bearer T-one" }],
    ["another of them", { authorization: "bearer  T-two" }],
    ["x-api-key", { "x-api-key": "T-two" }],
    ["x-api-key beside a key that is not for us", { authorization: "Bearer sk-other", "x-api-key": "T-one" }],
  ])("%s opens", (_, headers) => {
    expect(verdict(keyed, headers)).toBeNull();
  });

  test.each<[string, IncomingHttpHeaders]>([
    ["nothing", {}],
    ["a wrong key", { authorization: "Bearer T-onee" }],
    ["a part of one", { authorization: "Bearer T-on" }],
    ["another scheme", { authorization: "Basic T-one" }],
    ["an empty key", { authorization: "Bearer ", "x-api-key": "" }],
    ["a cookie", { cookie: "key=T-one" }],
  ])("%s does not", (_, headers) => {
    for (const path of ["/v1/chat/completions", "/metrics", "/status", "/", "/healthz/x"]) {
      expect(verdict(keyed, headers, "GET", path)).toBe("unauthorized");
    }
  });

  test("probes need none", () => {
    for (const path of ["/healthz", "/readyz"]) expect(verdict(keyed, {}, "GET", path)).toBeNull();
  });

  test("B90: a refusal holds nothing of the key", () => {
    const refusal = createGuard(listen(keyed)).check(request({ authorization: "Bearer sk-canary-AAAA" }));
    expect(JSON.stringify(refusal)).not.toContain("canary");
  });

  test("a caller is known by the inbound key, however it was sent, else by its own credentials", () => {
    const guard = createGuard(listen(keyed));
    const one = guard.caller({ authorization: "Bearer T-one" });
    expect(guard.caller({ "x-api-key": "T-one" })).toBe(one);
    expect(guard.caller({ "x-api-key": "T-two" })).not.toBe(one);
    const open = createGuard(listen());
    expect(open.caller({ authorization: "Bearer a" })).not.toBe(open.caller({ authorization: "Bearer b" }));
    expect(open.caller({})).toBe("");
    expect(one).not.toContain("T-one");
  });
});
