import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Shape } from "../../src/core/proof.ts";
import { jsonState, lastWholeElement, restartsGrammar, shapeOf, wholeJson } from "../../src/stitch/json.ts";
import { JsonScanner } from "../../src/stitch/scanner.ts";

/** JSON texts with an object or a list as root, as models write them: compact or indented. */
const documents = fc
  .tuple(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), fc.constantFrom(0, 1, 2))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("shapeOf", () => {
  const rows: [text: string, shape: Shape][] = [
    ["", "empty"],
    [" \n\t", "empty"],
    ["{", "open"],
    ['{"a', "open"],
    ['{"a"', "open"],
    ['{"a":', "open"],
    ['{"a":1', "open"],
    ['{"a":1,', "open"],
    ['{"a":tru', "open"],
    ['{"a":-', "open"],
    ['{"a":1e', "open"],
    ['{"a":"\\', "open"],
    ['{"a":"\\u12', "open"],
    ['["npm install","npm test"', "open"],
    ['"text', "open"],
    ["tru", "open"],
    ["-", "open"],
    ["1.", "open"],
    ["{}", "closed"],
    [' {"a":[1,2.5e-3,true,false,null,"\\u00e9\\n"]}\n\n', "closed"],
    ["[]", "closed"],
    ['"text"', "closed"],
    ["true", "closed"],
    ["12 ", "closed"],
    ["12", "bare"],
    ["-0.5e+3", "bare"],
    ["{}x", "broken"],
    ['{"a":1}{"a":1}', "broken"],
    ["{,", "broken"],
    ["{'a'", "broken"],
    ["{a", "broken"],
    ['{"a":1,}', "broken"],
    ["[1,]", "broken"],
    ["[1 2", "broken"],
    ["[01", "broken"],
    ["[+1", "broken"],
    ["[.5", "broken"],
    ["[1.e", "broken"],
    ["[trux", "broken"],
    ['["\\x', "broken"],
    ['["\\u00g', "broken"],
    ['["\n', "broken"],
    ["{]", "broken"],
    ["[}", "broken"],
    ["\u00a0{}", "broken"],
    ['```json\n{"a":1}\n```', "broken"],
    ["Sure, here it is:", "broken"],
  ];
  test.each(rows)("%j is %s", (text, shape) => {
    expect(shapeOf(text)).toBe(shape);
    expect(wholeJson(text)).toBe(shape === "closed");
  });

  test("nesting beyond bounds is broken, whatever its length", () => {
    expect(shapeOf("[".repeat(512))).toBe("open");
    expect(shapeOf("[".repeat(513))).toBe("broken");
    expect(shapeOf("[".repeat(1_000_000))).toBe("broken");
    expect(shapeOf('{"a":'.repeat(200_000))).toBe("broken");
  });

  test("edge 79: no proper prefix of a document is whole, and none is broken", () => {
    fc.assert(
      fc.property(documents, fc.nat(), (text, at) => {
        const cut = text.slice(0, at % text.length);
        expect(["empty", "open"]).toContain(shapeOf(cut));
        expect(shapeOf(text)).toBe("closed");
      }),
      { numRuns: 500 },
    );
  });

  test("it agrees with JSON.parse on damaged documents", () => {
    const damage = fc.constantFrom(
      "",
      '"',
      "\\",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      "0",
      "1",
      ".",
      "e",
      "-",
      "t",
      " ",
      "\n",
      "u",
    );
    fc.assert(
      fc.property(documents, fc.nat(), fc.nat({ max: 2 }), damage, (text, where, removed, put) => {
        const at = where % (text.length + 1);
        const damaged = text.slice(0, at) + put + text.slice(at + removed);
        const shape = shapeOf(damaged);
        expect(shape === "closed" || shape === "bare").toBe(parses(damaged));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("JsonScanner", () => {
  test("pieces cut anywhere say the same as the whole text", () => {
    fc.assert(
      fc.property(documents, fc.array(fc.nat({ max: 7 }), { minLength: 1 }), (text, sizes) => {
        const scanner = new JsonScanner();
        for (let at = 0, i = 0; at < text.length; i++) {
          const size = (sizes[i % sizes.length] ?? 0) + 1;
          scanner.push(text.slice(at, at + size));
          at += size;
        }
        const { complete, broken, open, blanks } = jsonState(text);
        expect([scanner.complete, scanner.broken, scanner.open, scanner.blanks]).toEqual([
          complete,
          broken,
          open,
          blanks,
        ]);
        expect(scanner.complete).toBe(true);
      }),
    );
  });

  test("it names what is open", () => {
    const state = jsonState('{"a":[{"b":"x\\');
    expect(state.open.map((frame) => frame.opener)).toEqual(["{", "[", "{"]);
    expect(state.inString).toBe(true);
    expect(state.inEscape).toBe(true);
    expect(state.complete).toBe(false);
  });

  test("edge 83: a cut inside an escape goes on to a valid escape or not at all", () => {
    expect(jsonState('{"a":"\\u00').inEscape).toBe(true);
    expect(shapeOf('{"a":"\\u00' + 'e9"}')).toBe("closed");
    expect(shapeOf('{"a":"\\' + 'n"}')).toBe("closed");
    expect(shapeOf('{"a":"\\u00' + '"}')).toBe("broken");
    expect(shapeOf('{"a":"\\' + 'é"}')).toBe("broken");
  });
});

describe("restartsGrammar", () => {
  const restarted: [text: string, next: string][] = [
    ['{"a":1,"b":"te', '{"a":1,"b":"text"}'],
    ['{"a":1,"b":"te', ' {\n  "a": 1'],
    ['{"a":1,"b', '{"a":1'],
    ['{"a":1', '{"a":1'],
    ['{"a":1,', '{"a":1'],
    ['{"a":"x\\', '{"a":"x'],
    ['[1,"te', '[1,"text"]'],
    ['{"items": [{"name": "first', '{"items": [{"na'],
    ['{"title":"A list","items":[', '{"title":"A list","items":["x"]}'],
    ['{"title":"A list","items":', '{ "title": "A list", "it'],
  ];
  test.each(restarted)("edge 84: %j + %j begins anew", (text, next) => {
    expect(restartsGrammar(text, next)).toBe(true);
  });

  const goesOn: [text: string, next: string][] = [
    ['{"a":1,"b":"te', 'xt"}'],
    ['{"code":"if (x) ', '{ return 1; }"}'],
    ['{"a":1,"b":', '{"c":1}}'],
    ['{"name":"a","children":[', '{"name":"b","children":[]}]}'],
    ["[", "[1,2],[3,4]]"],
    ["[[1,2],", "[3,4]]"],
    ['{"a":{}', "}"],
    ["", '{"a":1}'],
    ['{"a":1}', '{"a":1}'],
    ["prose", "{"],
  ];
  test.each(goesOn)("%j + %j goes on", (text, next) => {
    expect(restartsGrammar(text, next)).toBe(false);
  });
});

describe("lastWholeElement", () => {
  const rows: [text: string, kept: string | null, path: (string | number)[], count: number][] = [
    ['{"items":[{"a":1},{"a":2},{"a":', '{"items":[{"a":1},{"a":2}', ["items"], 2],
    ['["one","two","thr', '["one","two"', [], 2],
    ["[1,2,3", "[1,2", [], 2],
    ["[1,2,3 ", "[1,2,3", [], 3],
    ["[[1,2],[3,", "[[1,2]", [], 1],
    ['{"a\\"b":{"c":[1,2,', '{"a\\"b":{"c":[1,2', ['a"b', "c"], 2],
    [
      '{"chapters":[{"title":"t","lines":["x","y","z',
      '{"chapters":[{"title":"t","lines":["x","y"',
      ["chapters", 0, "lines"],
      2,
    ],
    ['{"done":[1,2],"items":[true,', '{"done":[1,2],"items":[true', ["items"], 1],
    ['{"items":[{"a":1', null, [], 0],
    ['{"a":"text', null, [], 0],
    ['{"items":[1,2]}', null, [], 0],
    ["[1,,", null, [], 0],
    ["", null, [], 0],
  ];
  test.each(rows)("%j keeps %j", (text, kept, path, count) => {
    const part = lastWholeElement(text);
    expect(part === null ? null : { kept: text.slice(0, part.end), path: part.path, count: part.count }).toEqual(
      kept === null ? null : { kept, path, count },
    );
  });

  test("what is kept are the first elements of the whole list, exactly", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), (list, at) => {
        const text = JSON.stringify({ items: list });
        const part = lastWholeElement(text.slice(0, at % text.length));
        if (part === null || part.path.length !== 1) return;
        expect(JSON.parse(`${text.slice(0, part.end)}]}`)).toEqual(
          JSON.parse(JSON.stringify({ items: list.slice(0, part.count) })),
        );
      }),
    );
  });
});
