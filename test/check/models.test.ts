import { describe, expect, test } from "vitest";
import { type Listed, modelFindings, type SeenModel } from "../../src/check/models.ts";
import type { ModelReport } from "../../src/check/report.ts";
import { settingsOf } from "../../src/check/settings.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { modelFacts } from "../../src/upstream/facts.ts";
import { dialects } from "../../src/upstream/index.ts";

function model(name: string, more: Partial<ModelReport> = {}, seen: Partial<SeenModel> = {}): SeenModel {
  const report: ModelReport = {
    name,
    sent_as: name,
    loaded: true,
    window: 32_768,
    window_source: "loaded",
    trained: null,
    max_output: null,
    reasoning: null,
    continuation: { ways: ["nudge"], known_by: "unknown" },
    counting: { family: "unknown", encoding: "o200k", bound_percent: 50, server_counts: false },
    ...more,
  };
  return { report, facts: modelFacts([name], { window: report.window }), ruled: false, template: null, ...seen };
}

function found(dialect: DialectName, models: readonly SeenModel[], more: Partial<Listed> = {}) {
  const listed: Listed = {
    name: "up",
    dialect: dialects[dialect],
    hosted: false,
    names: models.map(({ report }) => report.name),
    models,
    used: true,
    settings: settingsOf("default"),
    ...more,
  };
  return modelFindings(listed).map(({ code, about, fix }) => [code, about, fix]);
}

describe("small windows", () => {
  const small = (name: string, more: Partial<ModelReport> = {}) => model(name, { window: 4096, ...more });

  test("are told of servers that can be started anew", () => {
    expect(found("lmstudio", [small("m")])).toEqual([
      ["window_small", "m", "lms unload m && lms load m --context-length 32768"],
    ]);
  });

  test("are not told where they are the model's own, by order, hosted, or of a model that writes nothing", () => {
    expect(found("lmstudio", [small("m", { trained: 4096 })])).toEqual([]);
    expect(found("lmstudio", [small("m", { trained: 4097 })])).toHaveLength(1);
    expect(found("lmstudio", [small("m", { window_source: "config" })])).toEqual([]);
    expect(found("generic", [small("m")], { hosted: true })).toEqual([]);
    expect(found("lmstudio", [small("text-embedding-nomic")])).toEqual([]);
    expect(found("vllm", [model("m", { window: 8192 })])).toEqual([]);
  });

  test("of a server of which nothing is known are routed around", () => {
    expect(found("generic", [small("m")])).toEqual([
      ["window_small", "m", 'models: [{ match: "m", overflow: route, overflowModel: "MODEL_WITH_A_LARGER_WINDOW" }]'],
    ]);
  });

  test("a name that a shell would take for more than a word is not pasted", () => {
    expect(found("lmstudio", [small("m; rm -rf /")])[0]?.[2]).toBe(
      "lms unload MODEL && lms load MODEL --context-length 32768",
    );
  });
});

describe("unknown windows", () => {
  const unknown = (name: string, seen: Partial<SeenModel> = {}, more: Partial<ModelReport> = {}) =>
    model(name, { window: null, window_source: "unknown", ...more }, seen);

  test("are told once, by some names", () => {
    const many = ["a", "b", "c", "d", "e"].map((name) => unknown(name));
    expect(found("generic", many)).toEqual([["window_unknown", "up", "--window N"]]);
    expect(found("generic", many, { settings: settingsOf("file") })[0]?.[2]).toBe(
      'models: [{ match: "*", window: N }]',
    );
  });

  test("of models that wait to be loaded are known soon", () => {
    expect(found("ollama", [model("m"), unknown("n", {}, { loaded: false, trained: 131_072 })])).toEqual([]);
  });

  test("of hosted models matter where a rule names them", () => {
    expect(found("openai", [unknown("dall-e-3"), unknown("new")])).toEqual([]);
    expect(found("openai", [unknown("new", { ruled: true })])).toEqual([["window_unknown", "up", "--window N"]]);
  });
});

test("a list that only waits to be loaded is told once", () => {
  const waiting = (name: string) => model(name, { loaded: false, window: null, trained: 8192 });
  expect(found("ollama", [waiting("nomic-embed-text"), waiting("qwen3:8b"), waiting("b")])).toEqual([
    ["none_loaded", "up", 'ollama run qwen3:8b ""'],
  ]);
  expect(found("llamacpp", [waiting("a")])).toEqual([]);
});

test("an upstream that gets no request has no other problem", () => {
  expect(found("vllm", [model("m", { window: 512 })], { used: false })).toEqual([
    ["upstream_unused", "up", 'models: [{ match: "*", upstream: up }]'],
  ]);
});

test("a server that answers under any name has every model of a rule", () => {
  expect(found("llamacpp", [model("gpt-4", {}, { ruled: true })], { names: ["m.gguf"] })).toEqual([]);
  expect(found("vllm", [model("gpt-4", {}, { ruled: true, facts: null })], { names: ["gpt-4o"] })).toEqual([
    ["model_not_listed", "gpt-4", 'match: "gpt-4o"'],
  ]);
});

test("a template that closes the message is no news where the way is set by order", () => {
  expect(found("llamacpp", [model("m", {}, { template: false })])).toEqual([
    ["template_closes", "m", 'models: [{ match: "m", continue: nudge }]'],
  ]);
  const ordered = { continuation: { ways: ["nudge"], known_by: "config" } } as const;
  expect(found("llamacpp", [model("m", ordered, { template: false })])).toEqual([]);
});
