import { expect, test } from "vitest";
import { configFinding } from "../../src/check/config.ts";
import { type Inputs, loadConfig } from "../../src/config/load.ts";

/** The fixes of what is wrong with these inputs, by where it stands. */
function fixes(inputs: Partial<Inputs>, platform: NodeJS.Platform = "linux"): Record<string, string> {
  const loaded = loadConfig({ flags: {}, env: {}, file: null, ...inputs });
  if (!("problems" in loaded)) throw new Error("nothing is wrong");
  return Object.fromEntries(loaded.problems.map((problem) => [problem.at, configFinding(problem, platform).fix]));
}

test.each<[string, Partial<Inputs>, Record<string, string>]>([
  ["an unknown key", { file: "recovery: { maxAttempt: 1 }" }, { "recovery.maxAttempt": "maxAttempts:" }],
  [
    "a key of another section",
    { file: "budget: { maxAttempts: 1 }" },
    { "budget.maxAttempts": "recovery.maxAttempts:" },
  ],
  ["an unknown section", { file: "recovry: {}" }, { recovry: "recovery:" }],
  ["a word that is none of the choices", { flags: { dialect: "lm-studio" } }, { "--dialect": "--dialect lmstudio" }],
  ["a number out of range", { env: { LASTWORD_PORT: "70000" } }, { LASTWORD_PORT: "LASTWORD_PORT=65535" }],
  ["a text where a number belongs", { flags: { window: "lots" } }, { "--window": "--window NUMBER" }],
  ["a switch", { file: "recovery: { heal: perhaps }" }, { "recovery.heal": "heal: true" }],
  [
    "a URL without its scheme",
    { env: { LASTWORD_UPSTREAM: "localhost:1234" } },
    { LASTWORD_UPSTREAM: "LASTWORD_UPSTREAM=http://localhost:1234" },
  ],
  ["a URL that is none", { flags: { upstream: "::" } }, { "--upstream": "--upstream HTTP_OR_HTTPS_URL" }],
  [
    "an upstream that is not there",
    { file: "models: [{ match: a, upstream: defalt }]" },
    { "models[0].upstream": "upstream: default" },
  ],
  [
    "what overflow: route needs",
    { file: "budget: { overflow: route }" },
    { "budget.overflowModel": "overflowModel: MODEL_NAME" },
  ],
  [
    "an item of a list",
    { file: 'listen: { allowedOrigins: ["https://a.example/x"] }' },
    { "listen.allowedOrigins[0]": "- https://a.example" },
  ],
  ["an open address with a key", { flags: { host: "0.0.0.0", key: "canary" } }, { "--host": "--host 127.0.0.1" }],
  [
    "one key for several upstreams",
    { flags: { key: "canary" }, file: "upstreams: [{ name: a, url: http://a }, { name: b, url: http://b }]" },
    { "--key": "--upstream URL" },
  ],
  ["YAML that is none", { file: "a: b\nlisten: { port: 1" }, { config: "mend line 2 of the config file" }],
])("%s", (_name, inputs, expected) => {
  const found = fixes(inputs);
  expect(found).toMatchObject(expected);
  expect(JSON.stringify(found)).not.toContain("canary");
});

test("an unset variable is set as the shell here does it", () => {
  const file = `upstreams: [{ name: a, url: http://a, key: "\${MY_KEY}" }]`;
  expect(fixes({ file })).toEqual({ "upstreams[0].key": "export MY_KEY=VALUE" });
  expect(fixes({ file }, "win32")).toEqual({ "upstreams[0].key": "set MY_KEY=VALUE" });
});

test("a finding names place, line, cause", () => {
  const loaded = loadConfig({ flags: {}, env: {}, file: "\nlisten: { prot: 1 }" });
  const problems = "problems" in loaded ? loaded.problems : [];
  expect(problems.map((problem) => configFinding(problem, "linux"))).toEqual([
    {
      level: "error",
      code: "config",
      about: "listen.prot (line 2)",
      says: 'Expected a key that is known here, found the unknown key "prot".',
      fix: "port:",
    },
  ]);
});
