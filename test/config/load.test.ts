import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Inputs, loadConfig } from "../../src/config/load.ts";
import { type Problem, problemText } from "../../src/config/problem.ts";

function load(inputs: Partial<Inputs>) {
  const loaded = loadConfig({ flags: {}, env: {}, file: null, ...inputs });
  if ("problems" in loaded) throw new Error(loaded.problems.map(problemText).join("\n"));
  return loaded;
}

function problems(inputs: Partial<Inputs>): readonly Problem[] {
  const loaded = loadConfig({ flags: {}, env: {}, file: null, ...inputs });
  return "problems" in loaded ? loaded.problems : [];
}

const at = (found: readonly Problem[], where: string) => found.find((problem) => problem.at === where);

describe("with nothing given", () => {
  test("LM Studio on loopback", () => {
    const { config } = load({});
    expect(config.listen).toEqual({ host: "127.0.0.1", port: 4747, keys: [], allowedHosts: [], allowedOrigins: [] });
    expect(config.upstreams).toEqual([
      { name: "default", url: "http://localhost:1234/v1", dialect: "auto", key: "", basic: "", query: "" },
    ]);
    expect(config.runtime).toEqual({ logLevel: "info", workers: 1, allowOpen: false });
  });

  test("the commented example says the same, and shows every key", () => {
    const text = readFileSync(new URL("../../config/lastword.yaml", import.meta.url), "utf8");
    expect(load({ file: text }).config).toEqual(load({}).config);
    const { config } = load({});
    for (const [name, section] of Object.entries(config)) {
      if (Array.isArray(section) || typeof section === "string" || name === "runtime") continue;
      for (const key of Object.keys(section)) expect(text).toMatch(new RegExp(`^ {2}${key}: `, "m"));
    }
  });

  test("the example's commented rule is one that loads", () => {
    const text = readFileSync(new URL("../../config/lastword.yaml", import.meta.url), "utf8");
    const rule = text.replace("models: []", "models:").replace(/^#(?= {2})/gm, "");
    const { config } = load({ file: rule.replace("# caps: advisory", "caps: advisory") });
    expect(config.models).toEqual([
      {
        match: "qwen/*",
        upstream: "default",
        alias: "qwen/qwen3-8b",
        window: 65536,
        maxOutput: 16384,
        reasoning: true,
        continue: "auto",
        caps: "strict",
      },
    ]);
    expect(config.recovery.caps).toBe("advisory");
  });

  test("an empty file, and sections without keys, are fine", () => {
    expect(load({ file: "" }).config).toEqual(load({}).config);
    expect(load({ file: "limits:\n  # maxInflight: 4\nmodels:\n" }).config).toEqual(load({}).config);
  });

  test("every key of the contract's example is accepted", () => {
    const text = `
listen: { host: 127.0.0.1, port: 4747, keys: [], allowedHosts: [], allowedOrigins: [] }
upstreams:
  - { name: local, url: http://localhost:1234/v1, dialect: auto, key: "\${LM_KEY:-}" }
  - { name: router, url: https://openrouter.ai/api/v1, dialect: openrouter, key: "\${OPENROUTER_API_KEY}" }
models:
  - { match: "qwen/*", upstream: local, window: 65536, maxOutput: 16384, reasoning: true, continue: auto }
  - { match: "fast", alias: "qwen/qwen3-8b", upstream: local, caps: strict }
  - { match: "*", upstream: router }
budget: { minReplyTokens: 256, overflow: reject, overflowModel: "", reasoningAllowanceTokens: 4096, windowTtlSeconds: 300 }
recovery: { heal: true, caps: advisory, honourCapsUpTo: 64, maxAttempts: 4, maxParts: 8, maxReplyTokens: 0, deadlineSeconds: 1800, deadlineHard: false,
            minAttemptSeconds: 10, retryBackoffSeconds: [2, 4], maxRetryAfterSeconds: 60, secondAttempt: raise, toolCalls: whole, structured: stream,
            repairMalformed: false, onExhausted: partial, holdBack: off, heartbeat: comment, heartbeatSeconds: 10 }
limits: { maxBodyBytes: 16777216, connectSeconds: 10, firstByteSeconds: 600, idleSeconds: 600, drainSeconds: 30, maxModelLabels: 100,
          maxInflight: 0, maxQueued: 100, replaySeconds: 600, replayGraceSeconds: 30, maxReplayBytes: 67108864 }
state: { redis: "", replays: false, replayKey: "" }
`;
    const { config } = load({ file: text, env: { OPENROUTER_API_KEY: "sk-or-1" } });
    const { budget, limits, state, listen } = load({}).config;
    expect(config).toMatchObject({ budget, limits, state, listen });
    expect(config.recovery).toEqual({ ...load({}).config.recovery, caps: "advisory" });
    expect(config.upstreams.map((upstream) => upstream.key)).toEqual(["", "sk-or-1"]);
  });
});

describe("layers", () => {
  const file = "listen: { host: 127.0.0.2, port: 3 }\nrecovery: { maxAttempts: 9 }";

  test("flags win over environment, environment over file, file over defaults", () => {
    const env = { LASTWORD_PORT: "2", LASTWORD_HOST: "127.0.0.3" };
    const loaded = load({ file, env, flags: { port: "1" } });
    expect(loaded.config.listen).toMatchObject({ host: "127.0.0.3", port: 1 });
    expect(loaded.config.recovery.maxAttempts).toBe(9);
    expect(loaded.sourceOf(["listen", "port"])).toBe("flag");
    expect(loaded.sourceOf(["listen", "host"])).toBe("env");
    expect(loaded.sourceOf(["recovery", "maxAttempts"])).toBe("file");
    expect(loaded.sourceOf(["recovery", "maxParts"])).toBe("default");
  });

  test("an empty variable counts as not given", () => {
    expect(load({ file, env: { LASTWORD_PORT: "" } }).config.listen.port).toBe(3);
  });

  test("every flag and variable arrives", () => {
    const flags = {
      upstream: "http://h:1",
      dialect: "vllm",
      key: "K",
      window: "2048",
      host: "::1",
      port: "0",
      "log-level": "debug",
      "allow-open": true,
      workers: "2",
      redis: "redis://r",
    };
    const { config } = load({ flags });
    expect(config.upstreams).toEqual([
      { name: "default", url: "http://h:1/v1", dialect: "vllm", key: "K", basic: "", query: "" },
    ]);
    expect(config.models).toEqual([{ match: "*", continue: "auto", window: 2048 }]);
    expect(config.listen).toMatchObject({ host: "::1", port: 0 });
    expect(config.runtime).toEqual({ logLevel: "debug", workers: 2, allowOpen: true });
    expect(config.state.redis).toBe("redis://r");
    const env = {
      LASTWORD_UPSTREAM: "http://h:1",
      LASTWORD_DIALECT: "vllm",
      LASTWORD_UPSTREAM_KEY: "K",
      LASTWORD_WINDOW: "2048",
      LASTWORD_HOST: "::1",
      LASTWORD_PORT: "0",
      LASTWORD_LOG_LEVEL: "debug",
    };
    expect(load({ env, flags: { "allow-open": true, workers: "2", redis: "redis://r" } }).config).toEqual(config);
  });

  const two =
    "upstreams: [{ name: a, url: http://a }, { name: b, url: http://b }]\nmodels: [{ match: x, upstream: b }]";

  test("--upstream replaces the file's upstreams and models, faults and all", () => {
    const broken = `${two}\nlisten: { port: 5 }`.replace("http://a", `"\${UNSET}"`);
    const { config } = load({ file: broken, flags: { upstream: "http://c/api", key: "K" } });
    expect(config.upstreams.map(({ name, url, key }) => [name, url, key])).toEqual([
      ["default", "http://c/api/v1", "K"],
    ]);
    expect(config.models).toEqual([]);
    expect(config.listen.port).toBe(5);
  });

  test.each(["key", "window", "dialect"])("--%s alone with several upstreams is an error", (flag) => {
    const value = { key: "K-canary", window: "100", dialect: "vllm" }[flag] ?? "";
    const found = problems({ file: two, flags: { [flag]: value } });
    expect(found).toHaveLength(1);
    expect(at(found, `--${flag}`)).toMatchObject({ found: "2 upstreams in the file" });
  });

  test("--key, --window and --dialect change the file's only upstream", () => {
    const one = "upstreams: [{ name: a, url: http://a, key: old }]\nmodels: [{ match: x, window: 5, maxOutput: 7 }]";
    const { config } = load({ file: one, flags: { key: "new", window: "100", dialect: "ollama" } });
    expect(config.upstreams).toMatchObject([{ name: "a", key: "new", dialect: "ollama" }]);
    expect(config.models).toMatchObject([
      { match: "x", window: 100, maxOutput: 7 },
      { match: "*", window: 100 },
    ]);
  });
});

describe("variables in the file", () => {
  const key = (reference: string, env: Inputs["env"]) =>
    load({ file: `upstreams: [{ name: a, url: http://a, key: "${reference}" }]`, env }).config.upstreams[0]?.key;

  test("set, empty by default, with a default, escaped, several in one", () => {
    expect(key(`\${K}`, { K: "v" })).toBe("v");
    expect(key(`\${K}`, { K: "" })).toBe("");
    expect(key(`\${K:-}`, {})).toBe("");
    expect(key(`\${K:-d}`, {})).toBe("d");
    expect(key(`\${K:-d}`, { K: "" })).toBe("d");
    expect(key(`$\${K}`, { K: "v" })).toBe(`\${K}`);
    expect(key(`a\${K}b\${L:-c}$`, { K: "v" })).toBe("avbc$");
  });

  test("a number, a switch or a choice takes the type of its place; a key of digits stays text", () => {
    const file = `listen: { port: "\${P}" }\nrecovery: { heal: "\${H}", caps: "\${C}" }`;
    const { config } = load({ file, env: { P: "8080", H: "false", C: "strict" } });
    expect(config.listen.port).toBe(8080);
    expect(config.recovery).toMatchObject({ heal: false, caps: "strict" });
    expect(key(`\${K}`, { K: "12345" })).toBe("12345");
  });

  test("unset is an error that names the variable and the way out, and is told once", () => {
    const found = problems({ file: `upstreams: [{ name: a, url: "\${BASE}" }]` });
    expect(found).toEqual([
      {
        at: "upstreams[0].url",
        line: 1,
        expected: `the environment variable BASE to be set, or \${BASE:-} for an empty text`,
        found: "BASE unset",
        nearest: null,
      },
    ]);
  });

  test("a value cannot change the structure", () => {
    expect(key(`\${K}`, { K: "x}],keys:[1" })).toBe("x}],keys:[1");
  });
});

describe("problems", () => {
  test("all at once, each with its place, what was expected, what was found and the nearest known", () => {
    const file = `listen: { prt: 1 }
upstreams:
  - { name: a, url: "localhost:1234" }
  - { name: a, url: http://x/v1, dialect: opnai }
models:
  - { match: x, upstream: b, max_attempts: 3 }
recovery:
  deadlineSeconds: 9999
  heal: "on"
  maxBodyBytes: 3
limit: {}
budget: { overflow: route }
`;
    expect(problems({ file, flags: { port: "abc" } }).map(problemText)).toEqual([
      '--port: expected a number, found "abc"',
      'listen.prt (line 1): expected a key that is known here, found the unknown key "prt"; nearest known: port',
      'upstreams[0].url (line 3): expected an http:// or https:// URL, found "localhost:1234"; nearest known: http://localhost:1234',
      'upstreams[1].dialect (line 4): expected one of auto, lmstudio, llamacpp, vllm, ollama, openrouter, openai, generic, found "opnai"; nearest known: openai',
      'upstreams[1].name (line 4): expected a name that no other upstream has, found "a"',
      'models[0].max_attempts (line 6): expected a key that is known here, found the unknown key "max_attempts"; nearest known: maxAttempts',
      'models[0].upstream (line 6): expected the name of one of the upstreams, found "b"; nearest known: a',
      "recovery.deadlineSeconds (line 8): expected a number of at most 7200, found 9999",
      'recovery.heal (line 9): expected true or false, found "on"',
      'recovery.maxBodyBytes (line 10): expected a key that is known here, found the unknown key "maxBodyBytes"; nearest known: limits.maxBodyBytes',
      'limit (line 11): expected a section of the config, found the unknown key "limit"; nearest known: limits',
      "budget.overflowModel (line 12): expected a model name, since overflow is route, found nothing",
    ]);
  });

  test("YAML that does not parse names the line and never quotes it", () => {
    const found = problems({ file: "listen: { port: 1 }\nupstreams:\n  - key: *sk-canary\n" });
    expect(found).toMatchObject([{ at: "config", expected: "valid YAML" }]);
    expect(problems({ file: "a: 1\nb: [1, 2\nc: 3" })[0]).toMatchObject({ at: "config", line: 3 });
    expect(problems({ file: "listen: { port: 1 }\nlisten: { port: 2 }" })[0]).toMatchObject({
      line: 2,
      found: "Map keys must be unique",
    });
    for (const bad of [
      "k: !sk-canary x",
      "k: *sk-canary",
      'k: "\\qsk-canary"',
      "k: |sk-canary",
      "%sk-canary\n---\n",
      "- sk-canary",
    ]) {
      const said = problems({ file: bad }).map(problemText);
      expect(said.length).toBeGreaterThan(0);
      expect(said.join()).not.toContain("sk-canary");
    }
  });

  test("aliases that multiply are refused rather than built", () => {
    const levels = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}*a${i}]`);
    expect(problems({ file: ["a0: &a0 [x]", ...levels].join("\n") })).toHaveLength(1);
  });

  test("runtime settings are flags, not keys of the file", () => {
    expect(at(problems({ file: "runtime: { allowOpen: true }" }), "runtime")).toBeDefined();
  });

  test("what cannot be right together", () => {
    expect(at(problems({ file: "state: { redis: redis://r, replays: true }" }), "state.replayKey")).toBeDefined();
    expect(at(problems({ file: "state: { redis: http://r }" }), "state.redis")).toBeDefined();
    expect(at(problems({ file: "upstreams: []" }), "upstreams")).toBeDefined();
    expect(at(problems({ file: "models: [{ match: a, overflow: route }]" }), "models[0].overflowModel")).toBeDefined();
    const shared = "budget: { overflowModel: big }\nmodels: [{ match: a, overflow: route }]";
    expect(problems({ file: shared })).toEqual([]);
    expect(at(problems({ file: "listen: { allowedHosts: ['http://x'] }" }), "listen.allowedHosts[0]")).toBeDefined();
    const origins = problems({ file: "listen: { allowedOrigins: ['https://App.example.org/'] }" });
    expect(at(origins, "listen.allowedOrigins[0]")?.nearest).toBe("https://app.example.org");
  });

  test("a key that could not be sent is told without being shown", () => {
    const found = problems({ env: { LASTWORD_UPSTREAM_KEY: "sk-canary\n" } });
    expect(found).toMatchObject([{ at: "LASTWORD_UPSTREAM_KEY", found: "a text of 10 characters (not shown)" }]);
  });

  test("no fault, however placed, shows a key or a URL's secrets", () => {
    const secret = "sk-canary-AAAA";
    const file = `
listen: { keys: ["${secret} x", { a: "${secret}" }] }
upstreams:
  - { name: a, url: "ftp://u:${secret}@h/?key=${secret}", key: "${secret} y" }
  - { name: b, url: "u:${secret}@h", key: [${secret}] }
state: { redis: "http://:${secret}@h", replayKey: [ "${secret}" ] }
limits: { maxInflight: "\${LEAK}" }`;
    const said = problems({ file, env: { LEAK: secret } }).map(problemText);
    expect(said.length).toBeGreaterThanOrEqual(8);
    expect(said.join("\n")).not.toContain(secret);
  });

  test("any text gives a config or problems, never a throw", () => {
    const pieces = ["listen", "models", "upstreams", "null", "__proto__", "1", "&a", "*a", "\n", ...'":  -[]{}!|,$'];
    const piece = fc.constantFrom(...pieces);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const loaded = loadConfig({ flags: {}, env: {}, file: pieces.join("") });
        expect("config" in loaded || loaded.problems.length > 0).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe("B95: binding beyond loopback", () => {
  const withKey = (host: string, more: Partial<Inputs> = {}) =>
    problems({ env: { LASTWORD_HOST: host, LASTWORD_UPSTREAM_KEY: "K" }, ...more });

  test.each(["0.0.0.0", "::", "192.168.1.10", "my-laptop.local", "128.0.0.1"])(
    "%s with an upstream key and no inbound key is refused",
    (host) => {
      expect(withKey(host)).toMatchObject([{ at: "LASTWORD_HOST" }]);
    },
  );

  test.each(["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])("%s is loopback", (host) => {
    expect(withKey(host)).toEqual([]);
  });

  test("an inbound key or --allow-open lets it start, and without an upstream key there is nothing to spend", () => {
    expect(withKey("0.0.0.0", { file: "listen: { keys: [T] }" })).toEqual([]);
    expect(withKey("0.0.0.0", { flags: { "allow-open": true } })).toEqual([]);
    expect(problems({ flags: { host: "0.0.0.0" } })).toEqual([]);
  });

  test("credentials in the URL are a key too", () => {
    expect(problems({ flags: { host: "0.0.0.0", upstream: "http://u:p@h/v1" } })).toHaveLength(1);
    expect(problems({ flags: { host: "0.0.0.0", upstream: "http://h/v1?key=k" } })).toHaveLength(1);
  });
});

test("the revision differs when anything differs, and only then", () => {
  const revision = (inputs: Partial<Inputs>) => load(inputs).config.revision;
  expect(revision({ file: "recovery: { maxAttempts: 4 }" })).toBe(revision({}));
  expect(revision({ file: "recovery: { maxAttempts: 5 }" })).not.toBe(revision({}));
  expect(revision({ flags: { key: "a" } })).not.toBe(revision({ flags: { key: "b" } }));
});
