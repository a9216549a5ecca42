import fc from "fast-check";
import { expect, test } from "vitest";
import { CAUSES, OUTCOMES } from "../../src/core/cut.ts";
import { modelLabels } from "../../src/events/names.ts";
import { createTallies, reportLines } from "../../src/events/tally.ts";
import { finished } from "./samples.ts";

function tallies(events: readonly Parameters<typeof finished>[0][], most = 100) {
  const made = createTallies(modelLabels(most));
  for (const event of events) made.event(finished(event));
  return made.list();
}

test("one line per model, nothing for none", () => {
  expect(reportLines(tallies([]))).toEqual([]);
  const lines = reportLines(
    tallies([
      { outcome: "complete" },
      { outcome: "healed" },
      { outcome: "complete" },
      { model: "b", outcome: "malformed" },
    ]),
  );
  expect(lines).toEqual([
    "reply outcome: m: 2 complete, 1 healed, 0 cut off at the cap, 0 complete but malformed, of 3",
    "reply outcome: b: 0 complete, 0 healed, 0 cut off at the cap, 1 complete but malformed, of 1",
  ]);
});

test("what else there was follows, with only the parts that are not 0", () => {
  const lines = reportLines(
    tallies([
      { outcome: "cut_off", cause: "reply_cap" },
      { outcome: "cut_off", cause: "honoured_cap" },
      { outcome: "rejected" },
      { outcome: "canceled" },
      { outcome: "canceled" },
    ]),
  );
  expect(lines).toEqual([
    "reply outcome: m: 0 complete, 0 healed, 2 cut off at the cap, 0 complete but malformed, of 2 (1 cut as asked, 1 rejected, 2 canceled)",
  ]);
  expect(reportLines(tallies([{ outcome: "failed" }]))).toEqual([
    "reply outcome: m: 0 complete, 0 healed, 0 cut off at the cap, 0 complete but malformed, of 0 (1 failed)",
  ]);
});

test("a request without a model counts under unknown, a name cannot forge a line", () => {
  const lines = reportLines(tallies([{ model: "" }, { model: "a\nreply outcome: b" }]));
  expect(lines.map((line) => line.split(": ")[1])).toEqual(["unknown", "a\uFFFDreply outcome"]);
  expect(lines.join()).not.toContain("\n");
});

test("law: outcomes add up to requests, per model and over all, also beyond the bound on models", () => {
  const event = fc.record({
    model: fc.constantFrom("a", "b", "c", "d", ""),
    outcome: fc.constantFrom(...OUTCOMES),
    cause: fc.constantFrom(null, ...CAUSES),
  });
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const list = tallies(events, 2);
      for (const { requests, outcomes, cutAsAsked } of list) {
        expect(Object.values(outcomes).reduce((a, b) => a + b, 0)).toBe(requests);
        expect(cutAsAsked).toBeLessThanOrEqual(outcomes.cut_off);
      }
      expect(list.reduce((sum, { requests }) => sum + requests, 0)).toBe(events.length);
      expect(list.length).toBeLessThanOrEqual(4);
    }),
  );
});
