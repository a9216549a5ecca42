import { describe, expect, test } from "vitest";
import { newCodePoints } from "../../src/stitch/characters.ts";
import { believe, nudge, resume } from "./joining.ts";

const WHOLE = "The old pump was switched off before the storm reached the coast. The ledger says so.";

describe("ending", () => {
  test("edge 18: a cap on the natural end: a pass that brings nothing adds nothing", () => {
    for (const joined of [resume(WHOLE, ""), believe(WHOLE, ""), nudge(WHOLE, "")]) {
      expect(joined.text).toBe(WHOLE);
      expect(joined.verdict).toMatchObject({ do: "release", how: "nothing" });
    }
    expect(nudge(WHOLE, "\n").text).toBe(WHOLE);
  });

  test("edge 18: a nudged model that has nothing left to say writes the last words alone", () => {
    const joined = nudge(WHOLE, ({ anchor, seen }) => anchor + seen);
    expect(joined.text).toBe(WHOLE);
    expect(joined.verdict).toMatchObject({ do: "release", how: "anchor" });
    expect(nudge(`${WHOLE}\n`, ({ anchor }) => anchor).text).toBe(`${WHOLE}\n`);
  });

  test("edge 18: last words that break off before the end prove nothing", () => {
    expect(nudge(WHOLE, ({ anchor }) => anchor.slice(0, -3)).discarded).not.toBeNull();
  });

  test("edge 95: progress is counted in code points that leave ink", () => {
    expect(newCodePoints("")).toBe(0);
    expect(newCodePoints(" \n\t\u00a0")).toBe(0);
    expect(newCodePoints("ab c")).toBe(3);
    expect(newCodePoints("旧水泵😀")).toBe(4);
  });
});
