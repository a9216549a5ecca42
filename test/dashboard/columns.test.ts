import { describe, expect, test } from "vitest";
import { columns, scaleTop, sumOf, totals } from "../../src/dashboard/page/columns.ts";

const NOW = 3_600_000 * 10 + 5_000;

describe("the chart's columns", () => {
  test("sixty of them, up to now, oldest first, in either range", () => {
    for (const [range, step] of [
      ["minutes", 10_000],
      ["hour", 60_000],
    ] as const) {
      const all = columns([], NOW, range);
      expect(all).toHaveLength(60);
      const newest = all.at(-1)?.from ?? 0;
      expect(newest <= NOW && NOW < newest + step).toBe(true);
      expect(newest - (all[0]?.from ?? 0)).toBe(59 * step);
    }
  });

  test("slices of one minute add up in one column of the hour, and each counts once", () => {
    const from = Math.floor(NOW / 60_000) * 60_000 - 120_000;
    const slices = [0, 10_000, 50_000].map((later) => ({ from: from + later, outcomes: { complete: 1, healed: 2 } }));
    const column = columns(slices, NOW, "hour").find((one) => one.from === from);
    expect(column).toMatchObject({ sum: 9, outcomes: { complete: 3, healed: 6, failed: 0 } });
    expect(sumOf(totals(columns(slices, NOW, "hour")))).toBe(9);
  });

  test("what lies before the range, or in a future of the proxy's clock, is left out", () => {
    const slices = [NOW - 4_000_000, NOW + 70_000].map((from) => ({ from, outcomes: { complete: 1 } }));
    expect(sumOf(totals(columns(slices, NOW, "hour")))).toBe(0);
  });

  test("the top of the scale is a round number that nothing exceeds", () => {
    expect([0, 1, 4, 5, 11, 37, 99, 400, 401].map(scaleTop)).toEqual([4, 4, 4, 5, 20, 40, 100, 400, 500]);
  });
});
