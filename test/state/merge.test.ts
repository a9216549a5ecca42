import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startOf } from "../../src/budget/calibrate.ts";
import { familyOf } from "../../src/budget/families.ts";
import { type Json, parseJson } from "../../src/core/json.ts";
import { merge, readCalibration, readLessons } from "../../src/state/merge.ts";
import type { Lessons } from "../../src/upstream/knowledge.ts";

const tokens = fc.option(fc.integer({ min: 1, max: 3 }), { nil: null });
const until = fc.integer({ min: 0, max: 2 });
const lessons: fc.Arbitrary<Lessons> = fc.record({
  window: tokens,
  windowUntil: until,
  maxOutput: tokens,
  maxOutputUntil: until,
  served: fc.nat(5),
  reasons: fc.boolean(),
  resumes: fc.dictionary(fc.constantFrom("chat||", "chat|tools|"), fc.constantFrom("works", "ignored", "refused")),
  // Hints, of which each replica keeps its own.
  mendedBy: fc.constant(null),
  effortRefused: fc.boolean(),
  capField: fc.constant(null),
  optionsRefused: fc.uniqueArray(fc.constantFrom("a", "b", "c")),
});

/** What can be known is the same whatever the order; a window without a value says nothing of when. */
function known(one: Lessons): unknown {
  return {
    ...one,
    windowUntil: one.window === null ? 0 : one.windowUntil,
    maxOutputUntil: one.maxOutput === null ? 0 : one.maxOutputUntil,
    optionsRefused: [...one.optionsRefused].sort(),
    resumes: Object.fromEntries(Object.entries(one.resumes).sort()),
  };
}

/** As they are told from one replica to another. */
function told(one: Lessons): Lessons {
  const read = readLessons(parseJson(JSON.stringify(one)));
  if (read === null) throw new Error("lessons that cannot be read back");
  return read;
}

function merged(...all: Lessons[]): Lessons {
  const [first, ...rest] = all.map(told);
  if (first === undefined) throw new Error("nothing to merge");
  for (const one of rest) merge(first, one);
  return first;
}

const dated = lessons.map((one) => ({
  ...one,
  windowUntil: one.window === null ? 0 : one.windowUntil + 1,
  maxOutputUntil: one.maxOutput === null ? 0 : one.maxOutputUntil + 1,
}));

describe("lessons", () => {
  it("come to the same in whatever order replicas hear of them", () => {
    fc.assert(
      fc.property(dated, dated, dated, (a, b, c) => {
        expect(known(merged(a, b, c))).toEqual(known(merged(c, a, b)));
        expect(known(merged(a, merged(b, c)))).toEqual(known(merged(merged(a, b), c)));
      }),
    );
  });

  it("heard twice say nothing new", () => {
    fc.assert(
      fc.property(dated, dated, (a, b) => {
        const once = merged(a, b);
        expect(merge(once, told(b))).toBe(false);
      }),
    );
  });

  it("a way that was refused stays refused, a hint of one's own stays", () => {
    const own = merged({ ...base(), resumes: { w: "refused" }, capField: "max_tokens", mendedBy: null });
    expect(merge(own, { ...base(), resumes: { w: "works" }, capField: "other", mendedBy: "off" })).toBe(true);
    expect(own).toMatchObject({ resumes: { w: "refused" }, capField: "max_tokens", mendedBy: "off" });
  });

  it("what is not of their shape is left out", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const read = readLessons(json as Json);
        if (read !== null) expect(told(read)).toEqual(read);
      }),
    );
    expect(
      readLessons({ resumes: { a: "works", b: "maybe" }, optionsRefused: ["x", 1], served: "many" }),
    ).toMatchObject({
      resumes: { a: "works" },
      optionsRefused: ["x"],
      served: 0,
    });
  });
});

describe("calibrations", () => {
  const own = startOf(familyOf("gpt-4o"));
  const json = () => parseJson(JSON.stringify({ ...own, replies: 7 })) as { [key: string]: Json };

  it("are read back as they were told", () => {
    expect(readCalibration(json(), own)).toEqual({ ...own, replies: 7 });
  });

  it.each([
    ["of another vocabulary", { nearness: "other" }],
    ["of another size", { belief: { mean: [1], covariance: [1] } }],
    ["without numbers", { replies: "7" }],
    ["without weight", { weight: 0 }],
  ])("%s are not taken", (_, change) => {
    expect(readCalibration({ ...json(), ...change } as Json, own)).toBeNull();
  });
});

function base(): Lessons {
  return {
    window: null,
    windowUntil: 0,
    maxOutput: null,
    maxOutputUntil: 0,
    served: 0,
    reasons: false,
    resumes: {},
    mendedBy: null,
    effortRefused: false,
    capField: null,
    optionsRefused: [],
  };
}
