import { expect, test } from "vitest";
import type { ModelReport, Report, UpstreamReport } from "../../src/check/report.ts";
import { reportText } from "../../src/check/text.ts";

const model: ModelReport = {
  name: "m",
  sent_as: "m",
  loaded: true,
  window: 32_768,
  window_source: "loaded",
  trained: null,
  max_output: null,
  reasoning: null,
  continuation: { ways: ["prefill", "nudge"], known_by: "documented" },
  counting: { family: "qwen", encoding: "cl100k", bound_percent: 24, server_counts: false },
};
const upstream: UpstreamReport = {
  name: "up",
  url: "http://h:1/v1",
  reached: true,
  status: 200,
  ms: 12,
  dialect: "lmstudio",
  dialect_source: "detected",
  key: "none",
  clock_skew_seconds: 0,
  models: [model],
  not_routed: 0,
  probe: null,
};
const report: Report = {
  version: "1",
  ok: true,
  config: { file: "c.yaml", settings: null },
  listen: { url: "http://127.0.0.1:4747", state: "free" },
  upstreams: [upstream],
  problems: [],
};
const plain = { colour: false, columns: null };

test("all is well, on one page", () => {
  expect(reportText(report, plain)).toBe(`config  c.yaml, no faults
listen  http://127.0.0.1:4747 is free

up  http://h:1/v1
  LM Studio (found out), answers in 12 ms, no key needed so far, clock agrees
  model  window          output          cut replies                       counted by                    reasons
  m      32768 (loaded)  no limit known  prefill, else nudge (documented)  cl100k for qwen, within 24 %  not told

No problems.
`);
});

test("what a row says of less usual models", () => {
  const row = (more: Partial<ModelReport>) => {
    const lines = reportText({ ...report, upstreams: [{ ...upstream, models: [{ ...model, ...more }] }] }, plain);
    return lines.split("\n").find((line) => line.startsWith("  m") && !line.startsWith("  model")) ?? "";
  };
  expect(row({ window: null, loaded: false, trained: 131_072 })).toContain("not loaded, at most 131072");
  expect(row({ window: null, loaded: false })).toContain("not loaded  ");
  expect(row({ window: null })).toContain("unknown  ");
  expect(row({ window: null, trained: 4096 })).toContain("unknown, at most 4096");
  expect(row({ max_output: 8192 })).toContain("at most 8192");
  expect(row({ continuation: { ways: [], known_by: "config" } })).toContain("left as they are (as configured)");
  const unknown = { family: "unknown", encoding: "o200k", bound_percent: 319, server_counts: true };
  expect(row({ counting: unknown })).toContain(
    "o200k, a guess until replies have taught it, by the server itself where it matters",
  );
  expect(row({ reasoning: true })).toMatch(/ yes$/);
});

test("a long list is cut short, and what is cut is counted", () => {
  const models = Array.from({ length: 23 }, (_, i) => ({ ...model, name: `m${i}`, sent_as: `m${i}` }));
  const text = reportText({ ...report, upstreams: [{ ...upstream, models, not_routed: 2 }] }, plain);
  expect(text).toContain("m19 ");
  expect(text).not.toContain("m20 ");
  expect(text).toContain(
    "  and 3 more models (--json tells all)\n  2 more are listed, but no rule sends requests for them here\n",
  );
});

test("problems come last, with their number and a fix each", () => {
  const problem = { level: "error", code: "port_taken", about: "http://h:1", says: "Taken.", fix: "--port 2" } as const;
  const warning = { level: "warning", code: "window_small", about: "m", says: "Small.", fix: "lms load m" } as const;
  const text = reportText({ ...report, problems: [problem, warning, warning] }, plain);
  expect(
    text.endsWith(`1 problem, 2 warnings:

problem  http://h:1: Taken.
    fix  --port 2

warning  m: Small.
    fix  lms load m

warning  m: Small.
    fix  lms load m
`),
  ).toBe(true);
});
