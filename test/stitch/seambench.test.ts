import { describe, expect, test } from "vitest";
import { runBench } from "../../bench/seam/run.ts";

const ROWS = runBench(1_000, 7);

function all(group: string) {
  const row = ROWS.find((one) => one.group === group && one.name === "all");
  if (row === undefined) throw new Error(`no row ${group}`);
  return row.score;
}

/** What a join that others ship makes of the same cases. */
function naive(name: string, way: string) {
  return ROWS.find((one) => one.group === name && one.name === way)?.score ?? all("");
}

describe("SeamBench, 1,000 of its cases", () => {
  test.each(["prefill", "raw"])("%s: all exact", (way) => {
    expect(all(way).exact).toBe(all(way).cases);
  });

  test.each(["prefill", "raw", "prefill, unproven", "nudge", "nudge, holdBack: word"])(
    "%s: never a wrong join, nothing of the reply removed",
    (way) => {
      expect(all(way)).toMatchObject({ wrong: 0, lost: 0, doubled: 0, falseRemovals: 0 });
      expect(all(way).exact + all(way).honest).toBe(all(way).cases);
    },
  );

  test("nudge: exact wherever the server writes the reply and the text does not repeat itself", () => {
    expect(all("nudge").missed).toBe(0);
    expect(all("nudge").exact).toBeGreaterThan(all("nudge").cases / 2);
  });

  test("a server that is believed to resume and does not is found out", () => {
    expect(all("prefill, ignored").wrong).toBe(0);
  });

  test("streamed equals plain in every case", () => {
    for (const { score } of ROWS) expect(score.unequal).toBe(0);
  });

  test("a pass that resumes flows at once", () => {
    expect(all("raw").held / all("raw").seams).toBeLessThan(13);
  });

  test.each(["right-trim, concatenate", "insert a space", "longest overlap, from 1", "cut at last whitespace"])(
    "the join that others ship loses on the same cases: %s",
    (name) => {
      for (const way of ["prefill", "nudge"]) {
        expect(naive(name, way).cases).toBeGreaterThan(100);
        expect(naive(name, way).wrong).toBeGreaterThan(naive(name, way).cases / 10);
      }
    },
  );

  test("the same seed gives the same cases", () => {
    expect(runBench(40, 7)).toEqual(runBench(40, 7));
    expect(runBench(40, 7)).not.toEqual(runBench(40, 8));
  });
});
