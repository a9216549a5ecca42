import fc from "fast-check";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { tokensOf } from "../../src/budget/features.ts";
import { CLASSES } from "../../src/budget/tokenizer/characters.ts";
import { ENCODINGS, type Encoding } from "../../src/budget/tokenizer/encoding.ts";
import { MEASURE_LENGTH } from "../../src/budget/tokenizer/measure.ts";
import { slicesOf } from "../../src/budget/tokenizer/slices.ts";
import { readVocabulary } from "../../src/budget/tokenizer/vocabulary.ts";
import { conversation } from "./conversations.ts";
import { measureIn } from "./support.ts";

const REFERENCE = { o200k, cl100k };
const NO_SPECIAL = { disallowedSpecial: new Set<string>() };
const encodings = Object.keys(ENCODINGS) as Encoding[];

function measured(encoding: Encoding, text: string): Uint32Array {
  const measure = new Uint32Array(MEASURE_LENGTH);
  measureIn(encoding)(text, measure);
  return measure;
}

function count(encoding: Encoding, text: string): number {
  return tokensOf(measured(encoding, text));
}

/** Every kind of character that a split rule asks about, and what stands at its edges. */
const ATOMS = [
  ..."aBZéÉßǅʰ中文かアー한글اलहिน็𝔸😀\u0301\u200d'019٣½Ⅷ \u00a0\u3000\u2003\t\n\r/;{_-—…“\u0000\u200b",
  ...["'s", "'LL", "'Re", "'ve", "'x", "\r\n", "  ", "//", "hello", "World", "HTTPServer", "the", "👨‍👩‍👧", "\ud800"],
];

describe.each(encodings)("%s", (encoding) => {
  test("counts as the reference encoder does, whatever the characters", () => {
    const text = fc.array(fc.constantFrom(...ATOMS), { maxLength: 24 }).map((atoms) => atoms.join(""));
    fc.assert(
      fc.property(text, (said) => {
        expect(count(encoding, said)).toBe(REFERENCE[encoding].countTokens(said, NO_SPECIAL));
      }),
      { numRuns: 2000 },
    );
  });

  test("counts any Unicode as the reference encoder does", () => {
    // The reference takes U+FEFF for a blank and U+0085 for none; the vocabularies' own rule has it the other way round.
    const text = fc.string({ unit: "binary", maxLength: 40 }).map((said) => said.replace(/[\ufeff\u0085]/g, ""));
    fc.assert(
      fc.property(text, (said) => {
        expect(count(encoding, said)).toBe(REFERENCE[encoding].countTokens(said, NO_SPECIAL));
      }),
      { numRuns: 1000 },
    );
  });

  test("long pieces are merged through a heap to the same tokens", () => {
    for (const unit of ["a", "Ab", "é", "中", "😀", ";", " ", "\n", "é\u0301", "qx"]) {
      const run = unit.repeat(300);
      expect(count(encoding, run)).toBe(REFERENCE[encoding].countTokens(run, NO_SPECIAL));
    }
    const letters = Array.from({ length: 700 }, (_, i) => String.fromCharCode(97 + ((i * i * 7 + i) % 26))).join("");
    expect(count(encoding, letters)).toBe(REFERENCE[encoding].countTokens(letters, NO_SPECIAL));
  });

  test("names of special tokens are plain text", () => {
    const said = "hello <|endoftext|> <|im_start|>user";
    expect(count(encoding, said)).toBe(REFERENCE[encoding].countTokens(said, NO_SPECIAL));
  });

  test("slices of a long text cost what the text costs", () => {
    const text = Array.from({ length: 60 }, (_, seed) => JSON.stringify(conversation(seed).body)).join("\n");
    const slices = slicesOf(text);
    expect(slices.join("")).toBe(text);
    expect(slices.length).toBeGreaterThan(10);
    expect(slices.reduce((sum, slice) => sum + count(encoding, slice), 0)).toBe(count(encoding, text));
  });
});

test("a text that grows keeps its first slices", () => {
  const text = "one two three ".repeat(20_000);
  expect(slicesOf(`${text}and more`).slice(0, 10)).toEqual(slicesOf(text).slice(0, 10));
});

test("an unbroken run is cut between characters", () => {
  const text = "x😀".repeat(30_000);
  for (const slice of slicesOf(text)) expect(Buffer.from(slice).toString()).toBe(slice);
});

test("characters are told apart by class", () => {
  const measure = measured("o200k", "ab 12\n;éΑяאعनதก中かa한—😀Ա");
  const characters = Object.fromEntries(CLASSES.map((name, i) => [name, measure[CLASSES.length + i]]));
  expect(characters).toEqual({
    ...{ latin: 3, digit: 2, space: 2, mark: 1, accented: 1, greek: 1, cyrillic: 1, hebrew: 1, arabic: 1 },
    ...{ devanagari: 1, indic: 1, thai: 1, han: 1, kana: 1, hangul: 1, typographic: 1, symbol: 1, other: 1 },
  });
});

test("a vocabulary with a gap in its ranks is refused", () => {
  expect(() => readVocabulary(Buffer.from("YQ== 0\nYg== 2\n"))).toThrow("rank 2 stands where 1 was expected");
});
