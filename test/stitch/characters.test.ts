import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutAt, isBlank, lastGrapheme, solidEnd, startsWord, wordHold } from "../../src/stitch/characters.ts";

describe("characters", () => {
  test("blank is what \\s matches, unit by unit", () => {
    for (let unit = 0; unit < 0x10000; unit++)
      if (isBlank(unit) !== /\s/.test(String.fromCharCode(unit))) expect.fail(`U+${unit.toString(16)}`);
  });

  test.each([
    ["ok", 2],
    ["ok\ufffd\ufffd", 2],
    ["ok\ud83d", 2],
    ["ok\ufffd\ud83d", 2],
    ["😀", 2],
    ["\ufffd ok", 4],
    ["", 0],
  ])("of %j, %d units are solid", (text, end) => {
    expect(solidEnd(text)).toBe(end);
  });

  test.each([
    ["a family", "x 👩‍👩‍👧‍👦", 2],
    ["a flag after a flag", "🇩🇪🇫🇷", 4],
    ["a letter and its mark", "cafe\u0301", 3],
    ["CRLF", "a\r\n", 1],
    ["nothing", "", 0],
    ["a long way in", `${"word ".repeat(100)}👍🏽`, 500],
  ])("the last grapheme, %s", (_, text, at) => {
    expect(lastGrapheme(text)).toBe(at);
  });

  test.each([
    ["within a word", "the old kettle", 10, "the old"],
    ["at its end", "the old kettle", 7, "the old"],
    ["behind its blank", "the old kettle", 8, "the old"],
    ["within the first word", "kettle", 3, ""],
    ["before a sign", "f(x, y)", 3, "f(x"],
    ["within Chinese", "旧水泵在", 2, "旧水"],
    ["within a family", "x 👩‍👩‍👧‍👦 y", 7, "x"],
    ["before a mark", "cafe\u0301s", 4, ""],
    ["within a run without end", "a".repeat(500), 300, "a".repeat(300)],
    ["nowhere", "the old", 7, "the old"],
    ["at the start", "the old", 0, ""],
  ])("cut %s", (_, text, most, left) => {
    expect(text.slice(0, cutAt(text, most))).toBe(left);
  });

  test("a cut leaves no more than is wanted, and takes no grapheme apart", () => {
    const texts = fc
      .array(fc.constantFrom("a", "é", "e\u0301", "京", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", " ", "\r\n", "_", "("))
      .map((all) => all.join(""));
    const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });
    fc.assert(
      fc.property(texts, fc.nat(60), (text, most) => {
        const end = cutAt(text, most);
        expect(end).toBeLessThanOrEqual(most);
        const ends = [0, text.length, ...[...segmenter.segment(text)].map(({ index }) => index)];
        expect(ends).toContain(end);
      }),
    );
  });

  test.each([
    ["an unfinished word", "the unfini", 6],
    ["a finished one", "the end ", 0],
    ["a word with its sign", "the end.", 4],
    ["Chinese", "旧水泵在", 1],
    ["Latin after Chinese", "旧水泵abc", 3],
    ["Thai", "เครื่องสูบน้ำ", 3],
    ["an emoji", "ok 👍🏽", 4],
    ["a run beyond 200 units", "a".repeat(201), 1],
    ["a run of 200 units", "a".repeat(200), 200],
    ["nothing", "", 0],
  ])("held back of %s", (_, text, units) => {
    expect(wordHold(text)).toBe(units);
  });

  test("law: what is held back never grows beyond 200 units and one grapheme, and ends the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        const hold = wordHold(text);
        expect(hold).toBeGreaterThanOrEqual(0);
        expect(hold).toBeLessThanOrEqual(Math.max(200, text.length - lastGrapheme(text)));
      }),
    );
  });

  test("words begin at words, signs and characters, and never inside of a character or a run of one sign", () => {
    const starts = (text: string) => [...text].map((_, at) => at).filter((at) => startsWord(text, at));
    expect(starts("ab(cd, e)")).toEqual([0, 2, 3, 5, 7, 8]);
    expect(starts("@@ -1")).toEqual([0, 3, 4]);
    expect(starts("水泵x")).toEqual([0, 1, 2]);
    expect(starts("e\u0301x")).toEqual([0]);
  });
});
