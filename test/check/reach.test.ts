import { describe, expect, test } from "vitest";
import { type Asked, type Knock, reachFinding } from "../../src/check/reach.ts";
import { settingsOf } from "../../src/check/settings.ts";

const asked = (url: string, more: Partial<Asked> = {}): Asked => ({
  name: "up",
  url,
  dialect: null,
  hasKey: false,
  behindProxy: false,
  elsewhere: null,
  settings: settingsOf("default"),
  ...more,
});
const lost = (code: string): Knock => ({ kind: "lost", code });
const answer = (status: number, json: unknown, more: Partial<Extract<Knock, { kind: "answer" }>> = {}): Knock => ({
  kind: "answer",
  status,
  json,
  html: false,
  location: null,
  ...more,
});

describe("nothing listens", () => {
  test.each([
    ["http://localhost:1234/v1", null, "LM Studio", "lms server start"],
    ["http://localhost:11434/v1", null, "Ollama", "ollama serve"],
    ["http://localhost:8080/v1", null, "llama-server", "llama-server -m MODEL.gguf -c 32768 --port 8080"],
    ["http://localhost:8000/v1", null, "vLLM", "vllm serve MODEL --max-model-len 32768 --port 8000"],
    ["http://localhost:9000/v1", "ollama", "Ollama", "OLLAMA_HOST=127.0.0.1:9000 ollama serve"],
    ["http://localhost:9000/v1", null, "it listens at another port", "--upstream http://localhost:1234/v1"],
    ["https://api.example/v1", null, "it listens at another port", "--upstream http://localhost:1234/v1"],
  ] as const)("at %s, said to be %s", (url, dialect, says, fix) => {
    const found = reachFinding(lost("ECONNREFUSED"), asked(url, { dialect }));
    expect(found).toMatchObject({ code: "upstream_refused", level: "error", about: "up", fix });
    expect(found?.says).toContain(says);
  });

  test("on another machine", () => {
    expect(reachFinding(lost("ECONNREFUSED"), asked("http://box.lan:1234/v1"))?.says).toContain(
      "not running on box.lan",
    );
  });
});

test.each([
  ["ENOTFOUND", "http://box.lan:1234/v1", "upstream_unknown_host", "--upstream http://ADDRESS_OF_THE_SERVER:1234/v1"],
  ["EAI_AGAIN", "http://box.lan/v1", "upstream_unknown_host", "--upstream http://ADDRESS_OF_THE_SERVER/v1"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "https://h/v1", "upstream_certificate", "NODE_EXTRA_CA_CERTS=PATH_OF_ITS_CA.pem"],
  ["CERT_HAS_EXPIRED", "https://h/v1", "upstream_certificate", "NODE_EXTRA_CA_CERTS=PATH_OF_ITS_CA.pem"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "https://h:1/v1", "upstream_not_tls", "--upstream http://h:1/v1"],
  ["UND_ERR_SOCKET", "http://h:443/v1", "upstream_unreachable", "--upstream https://h:443/v1"],
  ["UND_ERR_CONNECT_TIMEOUT", "http://h:1/v1", "upstream_unreachable", "curl -v -m 20 http://h:1/v1/models"],
  ["EHOSTUNREACH", "http://h:1/v1", "upstream_unreachable", "curl -v -m 20 http://h:1/v1/models"],
] as const)("lost by %s at %s", (code, url, finding, fix) => {
  expect(reachFinding(lost(code), asked(url))).toMatchObject({ code: finding, fix });
});

test("no answer in time", () => {
  const found = reachFinding({ kind: "silent", seconds: 10 }, asked("http://h:1/v1"));
  expect(found).toMatchObject({ code: "upstream_silent", fix: "curl -m 60 http://h:1/v1/models" });
});

test("fixes are written where the URL came from", () => {
  const file = asked("https://h/v1", { settings: settingsOf("file") });
  expect(reachFinding(lost("EPROTO"), file)?.fix).toBe("url: http://h/v1");
  expect(reachFinding(answer(401, {}), file)?.fix).toBe(`key: "\${UPSTREAM_KEY}"`);
});

describe("an answer", () => {
  const at = asked("http://h:1/v1");

  test("that is a list has no fault, even an empty one", () => {
    expect(reachFinding(answer(200, { data: [{ id: "m" }] }), at)).toBeNull();
    expect(reachFinding(answer(200, { data: [] }), at)).toBeNull();
  });

  test("that is none, with and without a better place", () => {
    const none = answer(404, { error: { message: "Not Found" } });
    expect(reachFinding(none, at)).toMatchObject({ code: "upstream_wrong_path", fix: "--upstream http://h:1/v1" });
    const better = reachFinding(none, asked("http://h:1/v2", { elsewhere: "http://h:1/api/v1" }));
    expect(better).toMatchObject({ fix: "--upstream http://h:1/api/v1" });
    expect(better?.says).toContain("There is one at http://h:1/api/v1/models.");
    expect(reachFinding(answer(200, { data: [{ name: "no id" }] }), at)?.code).toBe("upstream_wrong_path");
  });

  test("403 is about the key too", () => {
    expect(reachFinding(answer(403, undefined, { html: true }), at)?.code).toBe("key_missing");
    expect(reachFinding(answer(403, {}), asked("http://h:1/v1", { hasKey: true }))?.code).toBe("key_refused");
  });

  test("429 is trouble, not a wrong path", () => {
    expect(reachFinding(answer(429, {}), at)?.code).toBe("upstream_failing");
  });
});

test("a proxy of the environment is blamed for local servers only, and only where they cannot be had", () => {
  const local = asked("http://127.0.0.1:1234/v1", { behindProxy: true });
  expect(reachFinding(lost("ECONNREFUSED"), local)?.code).toBe("upstream_behind_proxy");
  expect(reachFinding(answer(503, undefined, { html: true }), local)?.code).toBe("upstream_behind_proxy");
  expect(reachFinding(answer(401, {}), local)?.code).toBe("key_missing");
  expect(reachFinding(answer(200, { data: [] }), local)).toBeNull();
  const far = asked("http://box.lan:1234/v1", { behindProxy: true });
  expect(reachFinding(lost("ECONNREFUSED"), far)?.code).toBe("upstream_refused");
});
