import { describe, expect, test } from "vitest";
import { clock, count, duration, percent, size } from "../../src/dashboard/page/numbers.ts";
import { countWords, whyWords } from "../../src/dashboard/page/words.ts";

describe("plain words", () => {
  test("how a prompt was counted", () => {
    expect(countWords("estimate;bound=12")).toBe("estimated, within 12 tokens");
    expect(countWords("exact")).toBe("exact");
    expect(countWords("ceiling")).toBe("upper limit only");
    expect(countWords(null)).toBe("not counted yet");
    expect(countWords("toString")).toBe("toString");
  });

  test("why: the cause of a cut and the code of an error; an upstream's own code as it is", () => {
    expect(whyWords({ cause: "reply_cap", code: null })).toBe("the reply reached its cap");
    expect(whyWords({ cause: "reply_cap", code: "output_cap_exhausted" })).toBe(
      "the reply reached its cap; still cut after the last attempt",
    );
    expect(whyWords({ cause: null, code: "upstream_stalled" })).toBe("the upstream fell silent");
    expect(whyWords({ cause: null, code: "insufficient_quota" })).toBe("insufficient_quota");
    expect(whyWords({ cause: null, code: null })).toBeNull();
  });
});

describe("numbers", () => {
  test("counts, times and sizes", () => {
    expect([count(1234567), count(null)]).toEqual(["1,234,567", "–"]);
    expect([duration(0.4), duration(999), duration(4240), duration(59_960), duration(125_400)]).toEqual([
      "0 ms",
      "999 ms",
      "4.2 s",
      "60.0 s",
      "2 min 05 s",
    ]);
    expect([size(999), size(1300), size(2_000_000)]).toEqual(["999 B", "1.3 kB", "2.0 MB"]);
    expect(clock(0)).toMatch(/^\d\d:\d\d:\d\d$/);
  });

  test("not everything is never 100 %", () => {
    expect([percent(1, 1), percent(99_999, 100_000), percent(1, 3), percent(0, 0)]).toEqual([
      "100 %",
      "99.9 %",
      "33.3 %",
      "–",
    ]);
  });
});
