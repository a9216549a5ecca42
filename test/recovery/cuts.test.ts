import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verdictOf } from "../../src/recovery/evidence.ts";
import { check } from "../../src/schema/check.ts";
import { ask, D, type Ended, pass, T } from "./passes.ts";

/** Schemas as agents send them, each with values that satisfy it. */
const KINDS = [
  {
    schema: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
    },
    values: fc.record({ path: fc.string({ minLength: 1 }), content: fc.string({ unit: "grapheme", maxLength: 300 }) }),
  },
  {
    schema: {
      type: "object",
      properties: { commands: { type: "array", items: { type: "string" }, minItems: 1 } },
      required: ["commands"],
    },
    values: fc.record({ commands: fc.array(fc.string({ unit: "binary" }), { minLength: 1 }) }),
  },
  {
    schema: { type: "object", properties: { x: { type: "number" }, on: { type: "boolean" } }, required: ["x", "on"] },
    values: fc.record({ x: fc.double({ noNaN: true, noDefaultInfinity: true }), on: fc.boolean() }),
  },
  {
    schema: {
      type: "object",
      properties: { items: { type: "array", items: { type: "object", required: ["id"] } } },
      required: ["items"],
    },
    values: fc.record({ items: fc.array(fc.record({ id: fc.integer(), note: fc.jsonValue({ maxDepth: 3 }) })) }),
  },
  { schema: { type: "object" }, values: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })) },
] as const;

/** A document that satisfies its schema, compact or indented, and a place within it, in bytes. */
const cuts = fc
  .nat({ max: KINDS.length - 1 })
  .chain((kind) => fc.tuple(fc.constant(kind), KINDS[kind]?.values ?? fc.constant({}), fc.constantFrom(0, 2), fc.nat()))
  .map(([kind, value, indent, at]) => {
    const whole = JSON.stringify(value, null, indent);
    const bytes = Buffer.from(whole);
    // Servers hand out what they have of a character as U+FFFD.
    const text = bytes.subarray(0, at % bytes.length).toString("utf8");
    return { schema: KINDS[kind]?.schema ?? {}, whole, text };
  });

const REASONS = ["length", "stop", "tool_calls", "model_context_window_exceeded", "eos", undefined];
const ends: fc.Arbitrary<Ended> = fc
  .record(
    {
      finish: fc.constantFrom(...REASONS),
      end: fc.constantFrom("terminal", "eof", "broken", "stalled"),
      usage: fc.constantFrom<[number, number]>([10, 1000], [10, 999], [10, 40], [0, 0]),
      cap: fc.constantFrom(1000, null),
      hidesCuts: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .map(({ finish, ...rest }) => (finish === undefined ? rest : { ...rest, finish }));

const validate = async (schema: unknown, text: string) => check(JSON.stringify(schema), text);
const NUM_RUNS = 2_000;

describe("edge 79: cut at any byte, under any finish reason", () => {
  test("no half call is whole, nor delivered as malformed", async () => {
    await fc.assert(
      fc.asyncProperty(cuts, ends, async ({ schema, text }, ended) => {
        const asked = ask({ tools: [{ name: "f", schema }] });
        const found = await verdictOf(asked, pass([T(0, "f", text)], ended), validate);
        // The model may call a tool that needs nothing without a word.
        const nothingNeeded = text === "" && check(JSON.stringify(schema), "{}") === "valid";
        if (!nothingNeeded) expect(found).toMatchObject({ kind: "cut", where: "tool" });
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test("a half call drags the whole ones of its turn along", async () => {
    await fc.assert(
      fc.asyncProperty(cuts, ends, fc.boolean(), async ({ schema, whole, text }, ended, first) => {
        fc.pre(text !== "");
        const asked = ask({ tools: [{ name: "f", schema }] });
        const parts = first ? [T(0, "f", text), T(1, "f", whole)] : [T(0, "f", whole), T(1, "f", text)];
        expect((await verdictOf(asked, pass(parts, ended), validate)).kind).toBe("cut");
      }),
      { numRuns: 500 },
    );
  });

  test("no half structured reply is whole", async () => {
    await fc.assert(
      fc.asyncProperty(cuts, ends, async ({ schema, text }, ended) => {
        const asked = ask({ structured: { kind: "json_schema", schema } });
        const found = await verdictOf(asked, pass([D(text)], ended), validate);
        expect(["cut", "malformed", "nothing"]).toContain(found.kind);
      }),
      { numRuns: NUM_RUNS },
    );
  });

  test("what brackets closed for the model would make of it is whole only if it satisfies the schema", async () => {
    await fc.assert(
      fc.asyncProperty(
        cuts,
        fc.constantFrom('"}', "}", "]}", '"]}', "null}", "{}"),
        ends,
        async ({ schema, text }, closer, ended) => {
          const repaired = text + closer;
          const asked = ask({ tools: [{ name: "f", schema }], structured: { kind: "json_schema", schema } });
          const call = await verdictOf(asked, pass([T(0, "f", repaired)], ended), validate);
          const reply = await verdictOf(asked, pass([D(repaired)], ended), validate);
          const valid = check(JSON.stringify(schema), repaired) === "valid";
          if (!valid) expect([call.kind, reply.kind]).not.toContain("whole");
        },
      ),
      { numRuns: NUM_RUNS },
    );
  });

  test("the whole is whole, whatever the finish reason says", async () => {
    await fc.assert(
      fc.asyncProperty(
        cuts,
        fc.constantFrom("length", "stop", "tool_calls", "eos"),
        async ({ schema, whole }, finish) => {
          const asked = ask({ tools: [{ name: "f", schema }], structured: { kind: "json_schema", schema } });
          const ended = { finish, usage: [10, 1000] as [number, number] };
          expect((await verdictOf(asked, pass([T(0, "f", whole)], ended), validate)).kind).toBe("whole");
          expect((await verdictOf(asked, pass([D(whole)], ended), validate)).kind).toBe("whole");
        },
      ),
      { numRuns: 500 },
    );
  });
});
