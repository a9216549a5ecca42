import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { FindingCode } from "../../src/check/finding.ts";
import type { Report } from "../../src/check/report.ts";
import { reportText } from "../../src/check/text.ts";
import { check } from "../../src/cli/check.ts";
import { type Counting, createCounting } from "../../src/cli/counting.ts";
import type { Flags } from "../../src/config/settings.ts";
import { startProxy } from "../support/proxy.ts";
import { finish, reply, say, startUpstream, status, type Upstream, usage } from "../support/upstream.ts";

let folder = "";
/** One tokenizer for all runs. */
const counting = createCounting();
const shared: Counting = { of: (model, serverCounts) => counting.of(model, serverCounts), close: async () => {} };
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lastword-check-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await counting.close();
});

interface Given {
  readonly flags?: Flags;
  readonly file?: string;
  readonly env?: Record<string, string>;
  readonly probe?: boolean;
  readonly json?: boolean;
  readonly printConfig?: boolean;
  readonly columns?: number;
}

let files = 0;

async function run({ flags = {}, file, env = {}, columns, ...how }: Given) {
  const said = { out: "", err: "" };
  const path = file === undefined ? undefined : join(folder, `${files++}.yaml`);
  if (path !== undefined && file !== undefined) writeFileSync(path, file);
  const code = await check(
    { config: path, flags: { port: "0", ...flags }, json: false, printConfig: false, probe: false, ...how },
    env,
    {
      platform: "linux",
      stdout: {
        ...(columns === undefined ? {} : { isTTY: true, columns, hasColors: () => true }),
        write: (text) => {
          said.out += text;
        },
      },
      stderr: {
        write: (text) => {
          said.err += text;
        },
      },
    },
    shared,
  );
  return { code, ...said };
}

/** The JSON of a check, and what it found. */
async function look(given: Given) {
  const { code, out, err } = await run({ ...given, json: true });
  const report = JSON.parse(out) as Report;
  return { code, report, err, codes: report.problems.map((problem) => problem.code) };
}

const at = (upstream: Pick<Upstream, "url">): Given => ({ flags: { upstream: upstream.url } });

/** Runs a broken set-up as people see it and as scripts do: the cause, the fix, and exit code 1 (0 for warnings). */
async function broken(given: Given, code: FindingCode, says: string | RegExp, fix: string) {
  const { report, codes, code: exit } = await look(given);
  expect(codes).toEqual([code]);
  const [problem] = report.problems;
  expect(problem?.says).toMatch(says);
  expect(problem?.fix).toBe(fix);
  const warning = problem?.level === "warning";
  expect(exit).toBe(warning ? 0 : 1);
  expect(report.ok).toBe(warning);
  const out = reportText(report, { colour: false, columns: null });
  expect(out).toContain(`${warning ? "warning" : "problem"}  ${problem?.about}: `);
  expect(out).toContain(`    fix  ${fix}\n`);
  return report;
}

/** A port where nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("a good set-up", () => {
  test.each(["lmstudio", "llamacpp", "vllm", "ollama"] as const)(
    "%s has no problem, and generates nothing",
    async (dialect) => {
      await using upstream = await startUpstream({ dialect, window: 32_768 });
      const { code, report } = await look(at(upstream));
      expect({ code, ok: report.ok, problems: report.problems }).toEqual({ code: 0, ok: true, problems: [] });
      expect(report.upstreams).toMatchObject([
        {
          name: "default",
          url: upstream.url,
          reached: true,
          status: 200,
          dialect,
          dialect_source: "detected",
          key: "none",
          models: [{ name: "m", sent_as: "m", loaded: true, window: 32_768, window_source: "loaded" }],
          probe: null,
        },
      ]);
      expect(upstream.calls).toEqual([]);
    },
  );

  test("hosted services with a key that is taken", async () => {
    await using upstream = await startUpstream({
      dialect: "openrouter",
      window: 32_768,
      models: [{ id: "qwen/qwen3-8b", maxOutput: 8192, reasoning: false }],
      needsKey: "canary",
    });
    const { code, report } = await look({ flags: { upstream: upstream.url, key: "canary" } });
    expect({ code, problems: report.problems }).toEqual({ code: 0, problems: [] });
    expect(report.upstreams).toMatchObject([
      { key: "accepted", models: [{ window: 32_768, window_source: "served", max_output: 8192, reasoning: false }] },
    ]);
    expect(JSON.stringify(report)).not.toContain("canary");
  });

  test("how replies go on, and how that is known", async () => {
    const known = async (upstream: Upstream, file = "") => {
      await using up = upstream;
      const given = file === "" ? at(up) : { file: `${file}\nupstreams: [{ name: up, url: "${up.url}" }]` };
      const { report } = await look(given);
      return report.upstreams[0]?.models[0]?.continuation;
    };
    const window = 32_768;
    expect(await known(await startUpstream({ dialect: "llamacpp", window }))).toEqual({
      ways: ["prefill", "raw", "nudge"],
      known_by: "template",
    });
    expect(await known(await startUpstream({ dialect: "vllm", window }))).toMatchObject({ known_by: "documented" });
    expect(await known(await startUpstream({ dialect: "lmstudio", window }))).toMatchObject({ known_by: "unknown" });
    expect(await known(await startUpstream({ dialect: "generic", window: null, models: ["gpt-4o"] }))).toEqual({
      ways: ["nudge"],
      known_by: "unknown",
    });
    const rules = "models: [{ match: m, continue: nudge }]";
    expect(await known(await startUpstream({ dialect: "llamacpp", window }), rules)).toEqual({
      ways: ["nudge"],
      known_by: "config",
    });
    expect(await known(await startUpstream({ dialect: "llamacpp", window }), "recovery: { heal: false }")).toEqual({
      ways: [],
      known_by: "config",
    });
  });

  test("how prompts are counted", async () => {
    await using upstream = await startUpstream({
      dialect: "llamacpp",
      window: 32_768,
      models: ["gpt-4o", "qwen/qwen3-8b", "nobody-knows-it"],
    });
    const { report } = await look(at(upstream));
    const [exact, near, unknown] = report.upstreams[0]?.models.map(({ counting }) => counting) ?? [];
    expect(exact).toEqual({ family: "gpt4o", encoding: "o200k", bound_percent: 0, server_counts: true });
    expect(near).toMatchObject({ family: "qwen", encoding: "cl100k" });
    expect(near?.bound_percent).toBeGreaterThan(0);
    expect(unknown?.family).toBe("unknown");
    expect(unknown?.bound_percent).toBeGreaterThan(near?.bound_percent ?? 0);
  });

  test("an alias is a model of its own, and what is routed elsewhere is told by number", async () => {
    await using one = await startUpstream({ dialect: "vllm", window: 32_768, models: ["a", "b"] });
    await using two = await startUpstream({ dialect: "vllm", window: 16_384, models: ["a", "c"] });
    const file = `
upstreams: [{ name: one, url: "${one.url}" }, { name: two, url: "${two.url}" }]
models: [{ match: fast, alias: a, upstream: one, window: 9000 }, { match: c, upstream: two }]`;
    const { report, codes } = await look({ file });
    expect(codes).toEqual([]);
    const models = report.upstreams.map((upstream) =>
      upstream.models.map(({ name, sent_as, window }) => [name, sent_as, window]),
    );
    expect(models).toEqual([
      [
        ["fast", "a", 9000],
        ["a", "a", 32_768],
        ["b", "b", 32_768],
      ],
      [["c", "c", 16_384]],
    ]);
    expect(report.upstreams.map(({ not_routed }) => not_routed)).toEqual([0, 1]);
    const { out } = await run({ file });
    expect(out).toContain("fast (sent as a)");
    expect(out).toContain("1 more is listed, but no rule sends requests for them here");
  });

  test("a lastword that runs already on the port is no problem", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    for (const keys of [[], ["inbound"]]) {
      await using proxy = await startProxy(upstream, { listen: { keys } });
      const { code, report } = await look({ flags: { upstream: upstream.url, port: new URL(proxy.url).port } });
      expect({ code, state: report.listen?.state }).toEqual({ code: 0, state: "lastword" });
    }
  });
});

describe("ten broken set-ups, and more: each names its cause and its fix", () => {
  test("1: nothing listens", async () => {
    const port = await closedPort();
    const flags = { upstream: `http://127.0.0.1:${port}`, dialect: "lmstudio" };
    await broken(
      { flags },
      "upstream_refused",
      `Nothing listens at 127.0.0.1:${port}, where LM Studio would be`,
      `lms server start --port ${port}`,
    );
  });

  test("2: LM Studio, which answers 200 to a path that it does not know", async () => {
    await using upstream = await startUpstream({ dialect: "lmstudio" });
    const flags = { upstream: `${upstream.root}/lmstudio` };
    const fix = `--upstream ${upstream.url}`;
    await broken({ flags }, "upstream_wrong_path", "its status 200 means nothing", fix);
    const own = { upstream: `${upstream.root}/api/v1` };
    await broken({ flags: own }, "upstream_wrong_path", "into the server's own API", fix);
  });

  test("3: the path of an endpoint in the base URL", async () => {
    const flags = { upstream: "http://localhost:1234/v1/chat/completions" };
    await broken(
      { flags },
      "config",
      "a base URL, without the endpoint's own path",
      "--upstream http://localhost:1234/v1",
    );
  });

  test("4: a key is missing", async () => {
    await using upstream = await startUpstream({ dialect: "generic", needsKey: "canary" });
    const report = await broken(
      at(upstream),
      "key_missing",
      "asks for a key, and none is configured",
      "--key YOUR_KEY",
    );
    expect(report.upstreams).toMatchObject([{ key: "missing", reached: true, status: 401 }]);
  });

  test("5: a key is refused", async () => {
    await using upstream = await startUpstream({ dialect: "generic", needsKey: "right" });
    const file = `upstreams: [{ name: up, url: "${upstream.url}", key: canary }]`;
    const report = await broken({ file }, "key_refused", "does not take the configured key", `key: "\${UPSTREAM_KEY}"`);
    expect(report.upstreams).toMatchObject([{ key: "refused" }]);
    expect(JSON.stringify(report)).not.toContain("canary");
  });

  test.each([
    ["lmstudio", "context length", "lms unload m && lms load m --context-length 32768"],
    ["ollama", "num_ctx", "OLLAMA_CONTEXT_LENGTH=32768 ollama serve"],
    ["llamacpp", "-c", "llama-server -m m -c 32768 -np 1"],
    ["vllm", "--max-model-len", "vllm serve m --max-model-len 32768"],
  ] as const)("6: a small window in %s", async (dialect, term, fix) => {
    await using upstream = await startUpstream({ dialect, window: 4096 });
    await broken(at(upstream), "window_small", `The window (${term}) is 4096 tokens`, fix);
  });

  test("7: a window that nobody tells", async () => {
    await using upstream = await startUpstream({ dialect: "generic", window: null });
    await broken(at(upstream), "window_unknown", "does not tell the window of m", "--window N");
    const file = `upstreams: [{ name: up, url: "${upstream.url}" }]`;
    await broken({ file }, "window_unknown", "does not tell the window of m", 'models: [{ match: "m", window: N }]');
  });

  test("8: another program has the port", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    const squatter = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(squatter, "listening");
    const { port } = squatter.address() as AddressInfo;
    try {
      const { report, code } = await look({ flags: { upstream: upstream.url, port: String(port) } });
      expect(code).toBe(1);
      expect(report.listen).toEqual({ url: `http://127.0.0.1:${port}`, state: "refused" });
      expect(report.problems).toMatchObject([
        { code: "port_taken", says: `Another program has port ${port} on 127.0.0.1.` },
      ]);
      const proposed = Number(/^--port (\d+)$/.exec(report.problems[0]?.fix ?? "")?.[1]);
      expect(proposed).toBeGreaterThan(port);
    } finally {
      squatter.close();
    }
  });

  test("9: a config file with several faults tells all of them", async () => {
    const file = `
recovery: { maxAttempt: 3, secondAttempt: rise }
upstreams: [{ name: a, url: "localhost:1234", key: "\${UNSET_KEY}" }]
limits: { drainSeconds: -1 }`;
    const { report, code } = await look({ file });
    expect(code).toBe(1);
    expect(report.problems.map(({ about, fix }) => [about, fix])).toEqual([
      ["recovery.secondAttempt (line 2)", "secondAttempt: raise"],
      ["recovery.maxAttempt (line 2)", "maxAttempts:"],
      ["upstreams[0].key (line 3)", "export UNSET_KEY=VALUE"],
      ["upstreams[0].url (line 3)", "url: http://localhost:1234"],
      ["limits.drainSeconds (line 4)", "drainSeconds: 0"],
    ]);
    const { out } = await run({ file });
    expect(out).toContain("5 problems:");
    expect(out).toContain("nothing else was looked at");
  });

  test("10: clocks that disagree", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    const list = { data: [{ id: "m", owned_by: "vllm", max_model_len: 32_768 }] };
    upstream.on("GET /v1/models", () => ({ json: list, headers: { date } }));
    const report = await broken(at(upstream), "clock_skew", "60 min behind", "sudo timedatectl set-ntp true");
    expect(report.upstreams[0]?.clock_skew_seconds).toBeLessThan(-3590);
  });

  test("11: a dialect that the server does not speak", async () => {
    await using upstream = await startUpstream({ dialect: "llamacpp", window: 32_768 });
    const flags = { upstream: upstream.url, dialect: "ollama" };
    const { codes, report } = await look({ flags });
    expect(codes[0]).toBe("dialect_differs");
    expect(report.problems[0]).toMatchObject({ fix: "--dialect llamacpp", level: "warning" });
  });

  test("12: no model is there, or none is loaded", async () => {
    await using empty = await startUpstream({ dialect: "lmstudio", models: [] });
    await broken(at(empty), "no_models", "has no model at all", "lms get qwen3-8b");
    await using idle = await startUpstream({ dialect: "lmstudio", models: [{ id: "qwen/qwen3-8b", loaded: false }] });
    await broken(
      at(idle),
      "none_loaded",
      "No model is loaded in LM Studio",
      "lms load qwen/qwen3-8b --context-length 32768",
    );
  });

  test("13: a rule for a model that is not there", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768, models: ["qwen/qwen3-8b"] });
    const file = (rule: string) => `upstreams: [{ name: up, url: "${upstream.url}" }]\nmodels: [${rule}]`;
    await broken(
      { file: file("{ match: qwen/qwen3-4b }") },
      "model_not_listed",
      "does not list it",
      'match: "qwen/qwen3-8b"',
    );
    await broken(
      { file: file("{ match: fast, alias: qwen/qwen3-4b }") },
      "model_not_listed",
      "A rule sends qwen/qwen3-4b to up",
      'alias: "qwen/qwen3-8b"',
    );
  });

  test("14: a window above what is loaded", async () => {
    await using upstream = await startUpstream({ dialect: "lmstudio", window: 16_384 });
    const flags = { upstream: upstream.url, window: "65536" };
    await broken({ flags }, "window_not_loaded", "says 65536 tokens, but the server has 16384", "--window 16384");
  });

  test("15: an upstream that nothing is sent to", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    const file = `upstreams: [{ name: one, url: "${upstream.url}" }, { name: two, url: "${upstream.url}" }]`;
    await broken(
      { file },
      "upstream_unused",
      "No rule sends any model to two",
      'models: [{ match: "*", upstream: two }]',
    );
  });

  test("16: a key that only the model list does without", async () => {
    for (const [dialect, closed] of [
      ["openrouter", "GET /api/v1/key"],
      ["llamacpp", "GET /props"],
    ] as const) {
      await using upstream = await startUpstream({ dialect, window: 32_768 });
      upstream.on(closed, () => ({
        status: 401,
        json: { error: { message: "No auth credentials found", code: 401 } },
      }));
      const missing = await broken(at(upstream), "key_missing", "asks for a key", "--key YOUR_KEY");
      expect(missing.upstreams[0]?.models).toHaveLength(1);
      const flags = { upstream: upstream.url, key: "wrong" };
      await broken({ flags }, "key_refused", "does not take the configured key", "--key YOUR_KEY");
    }
  });

  test("17: a template that closes the assistant's message", async () => {
    await using upstream = await startUpstream({ dialect: "llamacpp", window: 32_768 });
    upstream.on("POST /apply-template", () => ({ json: { prompt: "<|user|>...<|assistant|>1 2 3<|end|>" } }));
    const report = await broken(
      at(upstream),
      "template_closes",
      "closes the assistant's message",
      'models: [{ match: "m", continue: nudge }]',
    );
    expect(report.upstreams[0]?.models[0]?.continuation.known_by).toBe("unknown");
  });

  test("18: the proxy's own address as its upstream", async () => {
    const port = String(await closedPort());
    const flags = { upstream: `http://localhost:${port}/v1`, port };
    await broken({ flags }, "upstream_is_lastword", "it would ask itself", "--upstream http://localhost:1234/v1");
  });

  test("19: a company's proxy in front of a local server", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    const proxy = `http://127.0.0.1:${await closedPort()}`;
    vi.stubEnv("HTTP_PROXY", proxy);
    try {
      await broken(
        { ...at(upstream), env: { HTTP_PROXY: proxy } },
        "upstream_behind_proxy",
        "is asked through that proxy",
        "NO_PROXY=localhost,127.0.0.1,::1",
      );
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("20: https towards a server without TLS", async () => {
    await using upstream = await startUpstream({ dialect: "vllm" });
    const flags = { upstream: upstream.url.replace("http:", "https:") };
    await broken({ flags }, "upstream_not_tls", "does not speak TLS", `--upstream ${upstream.url}`);
  });

  test("21: an address that this machine does not have", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    const flags = { upstream: upstream.url, host: "192.0.2.1" };
    await broken({ flags }, "address_refused", "this machine does not have that address", "--host 127.0.0.1");
  });

  test("22: a web page, a redirect, trouble, a server that is still loading", async () => {
    await using upstream = await startUpstream({ dialect: "generic" });
    const answers = (answer: Parameters<Upstream["on"]>[1]) => upstream.on("GET /v1/models", answer);
    answers(() => ({ text: "<html>", headers: { "content-type": "text/html" } }));
    await broken(at(upstream), "upstream_wrong_path", "A web page answers", `--upstream ${upstream.url}`);
    answers(() => ({
      status: 308,
      text: "",
      headers: { location: "https://u:canary@new.example/v1/models?k=canary" },
    }));
    const moved = await broken(
      at(upstream),
      "upstream_redirects",
      "redirects are not followed",
      "--upstream https://new.example/v1",
    );
    expect(JSON.stringify(moved)).not.toContain("canary");
    answers(() => ({ status: 500, json: { error: { message: "canary" } } }));
    const trouble = await broken(at(upstream), "upstream_failing", "with status 500", `curl -i ${upstream.url}/models`);
    expect(JSON.stringify(trouble)).not.toContain("canary");
    answers(() => ({
      status: 503,
      json: { error: { message: "Loading model", type: "unavailable_error", code: 503 } },
    }));
    await broken(at(upstream), "upstream_loading", "still loading its model", "lastword check");
  });
});

describe("--probe", () => {
  const reports = async (upstream: Upstream) => {
    const { report, err, codes } = await look({ ...at(upstream), probe: true });
    return {
      probe: report.upstreams[0]?.probe,
      continuation: report.upstreams[0]?.models[0]?.continuation,
      err,
      codes,
      problems: report.problems,
    };
  };

  test("says what it will do, asks once for 16 tokens, and tells what came", async () => {
    await using upstream = await startUpstream({
      dialect: "lmstudio",
      window: 32_768,
      models: [{ id: "cold", loaded: false }, "warm"],
    });
    upstream.next(say(" 13 14 15"), finish("length"), usage(40, 16));
    const { probe, err, codes, continuation } = await reports(upstream);
    expect(err).toBe("--probe asks warm on default for at most 16 tokens; nothing else here generates text.\n");
    expect(codes).toEqual([]);
    expect(upstream.calls).toHaveLength(1);
    expect(upstream.calls[0]?.body).toMatchObject({
      model: "warm",
      max_tokens: 16,
      messages: [{ role: "user" }, { role: "assistant" }],
    });
    expect(probe).toEqual({
      model: "warm",
      status: 200,
      finish_reason: "length",
      completion_tokens: 16,
      names_cuts: true,
      reports_usage: true,
      trailing_message: "resumed",
    });
    expect(continuation).toEqual({ ways: ["prefill", "nudge"], known_by: "unknown" });
  });

  test("models that write no replies are not asked for one", async () => {
    const models = ["text-embedding-nomic", "whisper-1"];
    await using upstream = await startUpstream({ dialect: "lmstudio", window: 32_768, models });
    const { probe, err } = await reports(upstream);
    expect({ probe, err, calls: upstream.calls.length }).toEqual({ probe: null, err: "", calls: 0 });
  });

  test("what it has shown stands in the model's row", async () => {
    await using upstream = await startUpstream({ dialect: "lmstudio", window: 32_768 });
    upstream.handle(() => reply("1 2 3 4 5", "stop"));
    const { probe, continuation } = await reports(upstream);
    expect(probe).toMatchObject({
      names_cuts: false,
      finish_reason: "stop",
      reports_usage: false,
      trailing_message: "restarted",
    });
    expect(continuation).toEqual({ ways: ["nudge"], known_by: "learned" });
    const { out } = await run({ ...at(upstream), probe: true });
    expect(out).toContain(
      "probe of m: ends a cut reply with stop, reports no usage, begins anew after a trailing assistant message",
    );
    expect(out).toContain("nudge (the probe shows it)");
  });

  test("a server that refuses a trailing message has no fault by that", async () => {
    await using upstream = await startUpstream({ dialect: "lmstudio", window: 32_768 });
    const message =
      "This model does not support assistant message prefill. The conversation must end with a user message.";
    upstream.next(status(400, { error: { message, type: "invalid_request_error" } }));
    const { probe, codes, continuation } = await reports(upstream);
    expect(probe).toMatchObject({ status: 400, trailing_message: "refused" });
    expect(codes).toEqual([]);
    expect(continuation).toEqual({ ways: ["nudge"], known_by: "learned" });
  });

  test("where it is known that nothing is resumed, nothing is tried", async () => {
    await using upstream = await startUpstream({ dialect: "generic", window: null, models: ["gpt-4o"] });
    upstream.next(say("1 2 3"), finish("length"), usage(20, 16));
    const { probe } = await reports(upstream);
    expect(upstream.calls[0]?.body.messages).toHaveLength(1);
    expect(probe).toMatchObject({ trailing_message: "not_tried", names_cuts: true });
  });

  test("a request that fails is a problem, with the request as its fix", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    upstream.next(status(500, { error: { message: "canary" } }));
    const { probe, problems, codes } = await reports(upstream);
    expect(codes).toEqual(["probe_failed"]);
    expect(probe).toMatchObject({ status: 500, finish_reason: null });
    expect(problems[0]?.fix).toContain(`curl -i ${upstream.url}/chat/completions`);
    expect(JSON.stringify(problems)).not.toContain("canary");
  });

  test("without it, no set-up makes anything generate", async () => {
    await using upstream = await startUpstream({ dialect: "llamacpp", window: 4096 });
    await run(at(upstream));
    expect(upstream.calls).toEqual([]);
  });
});

describe("what is printed", () => {
  test("--print-config shows every value with its source, and no secret", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    const file = `
upstreams: [{ name: up, url: "${upstream.url}?token=canary-1", key: canary-2 }]
listen: { keys: [canary-3] }
recovery: { maxAttempts: 2 }`;
    const { out, code } = await run({ file, printConfig: true, env: { LASTWORD_LOG_LEVEL: "warn" } });
    expect(code).toBe(0);
    expect(out).toMatch(/^Settings in force\n/);
    expect(out).toMatch(/ {2}recovery\.maxAttempts +2 +file\n/);
    expect(out).toMatch(/ {2}recovery\.maxParts +8 +default\n/);
    expect(out).toMatch(/ {2}listen\.port +0 +flag\n/);
    expect(out).toMatch(/ {2}runtime\.logLevel +"warn" +env\n/);
    expect(out).not.toContain("canary");
    const { report } = await look({ file, printConfig: true });
    expect(report.config.settings?.find((one) => one.at === "upstreams[0].key")).toEqual({
      at: "upstreams[0].key",
      value: "***",
      source: "file",
    });
  });

  test("the JSON has the same fields whatever was found", async () => {
    await using upstream = await startUpstream({ dialect: "vllm", window: 32_768 });
    const fields = ["version", "ok", "config", "listen", "upstreams", "problems"];
    for (const given of [at(upstream), { flags: { upstream: "nonsense" } }]) {
      const { report } = await look(given);
      expect(Object.keys(report)).toEqual(fields);
    }
  });

  test("an upstream's own words cannot paint the terminal", async () => {
    await using upstream = await startUpstream({
      dialect: "generic",
      window: null,
      models: ["m\x1b[2J\nNo problems."],
    });
    upstream.next(status(500, {}));
    const { out, err } = await run({ ...at(upstream), probe: true });
    expect(out + err).not.toContain("\x1b");
    expect(out).not.toMatch(/^No problems/m);
  });

  test("colours and lines that fit on a terminal, plain text elsewhere", async () => {
    await using upstream = await startUpstream({ dialect: "lmstudio", window: 4096 });
    const plain = await run(at(upstream));
    expect(plain.out).not.toContain("\x1b[");
    expect(plain.out).toMatch(/ {2}m +4096 \(loaded\) +no limit known +prefill, else nudge/);
    const wide = await run({ ...at(upstream), columns: 200 });
    expect(stripVTControlCharacters(wide.out)).toBe(
      plain.out.replace(/answers in \d+ ms/, /answers in \d+ ms/.exec(stripVTControlCharacters(wide.out))?.[0] ?? ""),
    );
    expect(wide.out).toContain("\x1b[");
    const narrow = await run({ ...at(upstream), columns: 80 });
    expect(stripVTControlCharacters(narrow.out)).toMatch(/\n {2}m\n {4}window +4096 \(loaded\)\n/);
  });
});
