import { expect, test } from "vitest";
import { afterProbe, continuationOf } from "../../src/check/continuation.ts";
import { PROBE_PARTIAL, type Probed, probeReport } from "../../src/check/probe.ts";
import { PERHAPS, TRAILING } from "../../src/upstream/resume.ts";

const probed = (text: string, more: Partial<Probed> = {}): Probed => ({
  model: "m",
  status: 200,
  refused: false,
  text,
  finish: { kind: "cap", raw: "length" },
  usage: { prompt: 40, completion: 16, reasoning: null, raw: {} },
  resume: TRAILING,
  ...more,
});
const trailing = (text: string, more: Partial<Probed> = {}) => probeReport(probed(text, more)).trailing_message;

test("how a reply goes on is told by its head", () => {
  expect(trailing(" 13 14")).toBe("resumed");
  expect(trailing("13")).toBe("resumed");
  expect(trailing("1 2 3")).toBe("restarted");
  expect(trailing("130")).toBe("untold");
  expect(trailing("Sure! 13")).toBe("untold");
  expect(trailing("")).toBe("untold");
  expect(trailing("", { refused: true, status: 400 })).toBe("refused");
  expect(trailing("1 2", { resume: null })).toBe("not_tried");
});

test("servers that repeat the message in front are known to", () => {
  const echo = { resume: { ...TRAILING, echo: "always" } } as const;
  expect(trailing(`${PROBE_PARTIAL} 13`, echo)).toBe("resumed");
  expect(trailing(`${PROBE_PARTIAL} 13`)).toBe("restarted");
});

test("a cut is one where the server says so, and usage is there where it is a number", () => {
  expect(probeReport(probed("13"))).toMatchObject({ names_cuts: true, reports_usage: true, completion_tokens: 16 });
  const silent = probed("13", { finish: { kind: "done", raw: "stop" }, usage: null });
  expect(probeReport(silent)).toMatchObject({ names_cuts: false, finish_reason: "stop", reports_usage: false });
});

test("what a probe has shown takes the place of what was not known, but not of an order", () => {
  const policy = { continue: "auto", heal: true } as const;
  const untried = continuationOf({ policy, resume: PERHAPS, raw: false, wellKnown: true, template: null });
  expect(untried).toEqual({ ways: ["prefill", "nudge"], known_by: "unknown" });
  expect(afterProbe(untried, probeReport(probed("1 2")))).toEqual({ ways: ["nudge"], known_by: "learned" });
  expect(afterProbe(untried, probeReport(probed("13")))).toEqual({ ways: ["prefill", "nudge"], known_by: "learned" });
  expect(afterProbe(untried, probeReport(probed("")))).toEqual(untried);
  const ordered = continuationOf({
    policy: { ...policy, continue: "prefill" },
    resume: null,
    raw: false,
    wellKnown: false,
    template: null,
  });
  expect(afterProbe(ordered, probeReport(probed("1 2")))).toEqual({ ways: ["prefill", "nudge"], known_by: "config" });
});

test("a server that renders its template has a way besides, whatever the probe shows of the other", () => {
  const policy = { continue: "auto", heal: true } as const;
  const before = continuationOf({ policy, resume: PERHAPS, raw: true, wellKnown: true, template: null });
  expect(before.ways).toEqual(["prefill", "raw", "nudge"]);
  expect(afterProbe(before, probeReport(probed("1 2")))).toEqual({ ways: ["raw", "nudge"], known_by: "learned" });
});
