import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BOUNDS, REPLY_BOUNDS, unbearable } from "../../src/core/structure.ts";

const of = (json: string) => unbearable(Buffer.from(json));
const array = (count: number, item: (i: number) => string) =>
  `[${Array.from({ length: count }, (_, i) => item(i)).join()}]`;

describe("JSON that would hold up everything else", () => {
  it("is told by what it has too much of", () => {
    expect(of("[".repeat(100_000))).toBe("depth");
    expect(of(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`)).toBe("depth");
    expect(of(array(BOUNDS.containers + 1, () => "{}"))).toBe("containers");
    expect(of(array(BOUNDS.values + 2, () => "1"))).toBe("values");
    expect(of(`{${array(20_000, (i) => `"k${i}":0`).slice(1, -1)}}`)).toBe("names");
    expect(of(`{${array(20_000, (i) => `"${"long".repeat(9)}${i}" \n :0`).slice(1, -1)}}`)).toBe("names");
    expect(of(array(20_000, (i) => `"v${i}"`))).toBe("names");
  });

  it("is not what merely is large, or says the same again and again", () => {
    expect(of(JSON.stringify({ a: "x".repeat(1_000_000) }))).toBe(null);
    expect(of(JSON.stringify({ a: '"\\[{'.repeat(500_000) }))).toBe(null);
    expect(of(array(60_000, () => '{"role":"user","content":"a"}'))).toBe(null);
    expect(of(array(20_000, (i) => `"call_of_a_long_id_${i}"`))).toBe(null);
    expect(of(array(1_000_000, (i) => String(i)))).toBe(null);
  });

  it("is not a reply's log probabilities, twenty candidates for each of 8,000 tokens", () => {
    const candidate = (i: number) => `{"token":"t${i % 20_000}","logprob":-1.25,"bytes":[32,116,49,55]}`;
    const json = array(8_000, (i) => `{"top_logprobs":${array(20, (j) => candidate(i * 20 + j))}}`);
    expect(of(json)).not.toBe(null);
    expect(unbearable(Buffer.from(json), REPLY_BOUNDS)).toBe(null);
    expect(unbearable(Buffer.from(array(REPLY_BOUNDS.containers + 1, () => "{}")), REPLY_BOUNDS)).toBe("containers");
  });

  it("is looked for outside of strings alone, whatever stands in them", () => {
    const text = fc.string({ unit: fc.constantFrom('"', "\\", "[", "{", ",", ":", "a", "é", "\n"), maxLength: 300 });
    fc.assert(
      fc.property(fc.array(text, { minLength: 30, maxLength: 60 }), (texts) => {
        // Each array is one level: strings that are misread would open or close some.
        const json = texts.reduceRight((inner, one) => `[${JSON.stringify(one)},${inner}]`, "0");
        const padded = json + " ".repeat(5_000);
        expect(of(padded)).toBe(null);
        expect(of("[".repeat(BOUNDS.depth - texts.length) + padded)).toBe(null);
        expect(of("[".repeat(BOUNDS.depth - texts.length + 1) + padded)).toBe("depth");
      }),
      { numRuns: 100 },
    );
  });
});
