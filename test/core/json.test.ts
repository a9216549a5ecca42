import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../../src/core/json.ts";

function slowly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

test("what is JSON is parsed, and what is not is undefined, however it begins and ends", () => {
  const blanks = fc.constantFrom("", " ", "\n\t", "\r\n  ", "\u00a0", "\ufeff");
  const rest = fc.oneof(fc.json(), fc.constantFrom("{", "}", "[]]", '"', '"a', "{]", "tru", "-", "0", "null,", ""));
  fc.assert(
    fc.property(blanks, rest, blanks, (before, json, after) => {
      const text = before + json + after;
      expect(parseJson(text)).toEqual(slowly(text));
    }),
    { numRuns: 500 },
  );
});
