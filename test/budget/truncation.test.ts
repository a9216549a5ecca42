import { describe, expect, test } from "vitest";
import { type Count, ceilingCount } from "../../src/budget/count.ts";
import { silentlyTruncated } from "../../src/budget/truncation.ts";

const parts = { messages: 0, tools: 0, schema: 0, images: 0, other: 0 };
const count = (tokens: number, bound: number): Count => ({ tokens, bound, method: "estimate", parts, evidence: null });

describe("messages dropped in silence", () => {
  test.each([
    ["half of a long prompt", count(12_000, 600), 4095, true],
    ["the last few tokens", count(12_000, 600), 11_300, false],
    ["a count that is itself unsure", count(12_000, 9000), 4095, false],
    ["a short prompt", count(60, 5), 20, false],
    ["no report", count(12_000, 600), null, false],
    ["a report of zero", count(12_000, 600), 0, false],
  ])("%s", (_, counted, reported, truncated) => {
    expect(silentlyTruncated(counted, reported)).toBe(truncated);
  });

  test("an upper limit proves nothing", () => {
    const ceiling = ceilingCount([], { upstream: "u", model: "m", bodyBytes: 50_000 });
    expect(silentlyTruncated(ceiling, 100)).toBe(false);
  });
});
