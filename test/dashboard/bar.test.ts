import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { barOf, cutsOf } from "../../src/dashboard/page/bar.ts";
import { attempt } from "../events/samples.ts";

describe("the bar of a window", () => {
  test("prompt, reply and room, with the cap of the pass under way", () => {
    expect(barOf({ window: 1000, promptTokens: 400, capSent: 300, tokens: 100, cuts: [] })).toEqual({
      prompt: 0.4,
      pieces: [{ from: 0.4, to: 0.5 }],
      marks: [],
      cap: 0.7,
      room: 500,
    });
  });

  test("a cut is a seam once more of the reply stands behind it", () => {
    const cut = { window: 1000, promptTokens: 0, capSent: null, tokens: 200, cuts: [100, 200] };
    expect(barOf(cut).marks).toEqual([
      { at: 0.1, kind: "seam" },
      { at: 0.2, kind: "cut" },
    ]);
    expect(barOf({ ...cut, tokens: 201 }).marks.map(({ kind }) => kind)).toEqual(["seam", "seam"]);
  });

  test("an unknown window leaves the room unknown, and the bar shows what is used up to the cap", () => {
    const bar = barOf({ window: null, promptTokens: 100, capSent: 100, tokens: 50, cuts: [] });
    expect(bar).toMatchObject({ prompt: 0.5, room: null, cap: null });
  });

  test("whatever the numbers, all lies within the bar and in order", () => {
    const tokens = fc.nat(200_000);
    fc.assert(
      fc.property(
        fc.record({
          window: fc.option(fc.integer({ min: 1, max: 200_000 })),
          promptTokens: fc.option(tokens),
          capSent: fc.option(tokens),
          tokens,
          cuts: fc.array(tokens, { maxLength: 5 }).map((cuts) => cuts.toSorted((a, b) => a - b)),
        }),
        (filling) => {
          const { prompt, pieces, marks, cap, room } = barOf(filling);
          const ends = pieces.flatMap(({ from, to }) => [from, to]);
          const shares = [prompt, ...ends, ...marks.map(({ at }) => at), ...(cap === null ? [] : [cap])];
          for (const share of shares) expect(share >= 0 && share <= 1).toBe(true);
          expect(ends).toEqual(ends.toSorted((a, b) => a - b));
          expect(room === null || room >= 0).toBe(true);
        },
      ),
    );
  });
});

describe("where an ended reply was cut", () => {
  test("as the upstream counted its passes; passes that were thrown away are not part of the reply", () => {
    const attempts = [
      attempt({ completion_tokens: 64 }),
      attempt({ result: "discarded", completion_tokens: 999 }),
      attempt({ completion_tokens: 36 }),
      attempt({ result: "whole", completion_tokens: 10 }),
    ];
    expect(cutsOf(attempts, [60, 95])).toEqual([64, 100]);
  });

  test("as it was seen, where the upstream did not count", () => {
    expect(cutsOf([attempt({ completion_tokens: null }), attempt({ result: "whole" })], [60])).toEqual([60]);
  });
});
