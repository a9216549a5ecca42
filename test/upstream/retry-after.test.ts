import { describe, expect, test } from "vitest";
import { retryAfterSeconds } from "../../src/upstream/lessons.ts";

const NOW = Date.parse("2026-10-21T07:28:00Z");
const header = (value: string | string[]) => retryAfterSeconds({ "retry-after": value }, "", NOW);
const hint = (message: string) => retryAfterSeconds({}, message, NOW);

describe("B84: how long an upstream asks to wait", () => {
  test.each([
    ["2", 2],
    ["0", 0],
    [" 1.5 ", 1.5],
    ["Wed, 21 Oct 2026 07:28:30 GMT", 30],
    ["Wed, 21 Oct 2026 07:00:00 GMT", 0],
    ["99999", 86_400],
    ["1e9", null],
    ["-1", null],
    ["abc", null],
    ["2026", 2026],
    ["", null],
    ["Infinity", null],
    ["Wed, nonsense", null],
  ])("retry-after: %j", (value, seconds) => {
    expect(header(value)).toBe(seconds);
  });

  test("the first of several; milliseconds before seconds", () => {
    expect(header(["3", "9"])).toBe(3);
    expect(retryAfterSeconds({ "retry-after-ms": "1500", "retry-after": "9" }, "", NOW)).toBe(1.5);
    expect(retryAfterSeconds({ "retry-after-ms": "-1", "retry-after": "9" }, "", NOW)).toBe(9);
  });

  test.each([
    ["Please try again in 20s.", 20],
    ["Please try again in 6m0s.", 360],
    ["Please try again in 1h2m3s.", 3723],
    ["Please try again in 120ms.", 0.12],
    ["Please try again in 7.66s. Visit", 7.66],
    ["You exceeded your current quota. Please retry in 34.07s.", 34.07],
    ["Please try again in a moment.", null],
    ["server busy, please try again.  maximum pending requests exceeded", null],
    ["", null],
  ])("%j", (message, seconds) => {
    expect(hint(message)).toBe(seconds);
  });

  test("a header beats a hint; a useless header does not", () => {
    expect(retryAfterSeconds({ "retry-after": "5" }, "try again in 20s", NOW)).toBe(5);
    expect(retryAfterSeconds({ "retry-after": "abc" }, "try again in 20s", NOW)).toBe(20);
  });
});
