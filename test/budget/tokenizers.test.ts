import { afterAll, describe, expect, test } from "vitest";
import { tokensOf } from "../../src/budget/features.ts";
import { MEASURE_LENGTH } from "../../src/budget/tokenizer/measure.ts";
import { TokenizerThread } from "../../src/budget/tokenizer/thread.ts";
import { type Backend, createMeasurer } from "../../src/budget/tokenizers.ts";
import { inProcess } from "./support.ts";

/** A backend that counts one token per UTF-16 unit and remembers what it was asked. */
function recording(): { readonly backend: Backend; readonly asked: string[][] } {
  const asked: string[][] = [];
  return {
    asked,
    backend: async (_, texts) => {
      asked.push([...texts]);
      const measures = new Uint32Array(texts.length * MEASURE_LENGTH);
      texts.forEach((text, i) => {
        measures[i * MEASURE_LENGTH] = text.length;
      });
      return measures;
    },
  };
}

describe("a measurer", () => {
  test("asks only for what it has not seen, and answers the rest at once", async () => {
    const { backend, asked } = recording();
    const measure = createMeasurer(backend);
    const first = await measure("o200k", ["system", "one", ""]);
    expect(first.map(({ measure }) => tokensOf(measure))).toEqual([6, 3, 0]);
    const again = measure("o200k", ["system", "one"]);
    expect(again).not.toBeInstanceOf(Promise);
    await measure("o200k", ["system", "one", "two"]);
    expect(asked).toEqual([["system", "one"], ["two"]]);
  });

  test("asks once for a text that stands in a prompt twice", async () => {
    const { backend, asked } = recording();
    const measured = await createMeasurer(backend)("o200k", ["same", "same"]);
    expect(asked).toEqual([["same"]]);
    expect(measured.map(({ measure }) => tokensOf(measure))).toEqual([4, 4]);
  });

  test("keeps vocabularies apart", async () => {
    const { backend, asked } = recording();
    const measure = createMeasurer(backend);
    await measure("o200k", ["word"]);
    await measure("cl100k", ["word"]);
    expect(asked).toHaveLength(2);
  });

  test("sends a long prompt in batches, so that others get between", async () => {
    const { backend, asked } = recording();
    const long = Array.from({ length: 130_000 }, (_, i) => `w${i}`).join(" ");
    const [measured] = await createMeasurer(backend)("o200k", [long]);
    expect(asked.length).toBeGreaterThan(2);
    for (const batch of asked) expect(batch.join("").length).toBeLessThan(300_000);
    expect(measured === undefined ? 0 : tokensOf(measured.measure)).toBe(long.length);
  });

  test("measures a very long prompt over several turns of the loop, and remembers it", async () => {
    const { backend, asked } = recording();
    const measure = createMeasurer(backend);
    const long = Array.from({ length: 300_000 }, (_, i) => `w${i}`).join(" ");
    const [first] = await measure("o200k", [long]);
    expect(first === undefined ? 0 : tokensOf(first.measure)).toBe(long.length);
    const before = asked.length;
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await measure("o200k", [long]);
    expect(asked).toHaveLength(before);
    expect(turned).toBe(true);
  });

  test("forgets the least recently used", async () => {
    const { backend, asked } = recording();
    const measure = createMeasurer(backend);
    await measure("o200k", ["kept", "lost"]);
    for (let i = 0; i < 20; i++) {
      await measure(
        "o200k",
        Array.from({ length: 1000 }, (_, j) => `${i}-${j}`),
      );
      await measure("o200k", ["kept"]);
    }
    asked.length = 0;
    await measure("o200k", ["kept"]);
    expect(asked).toHaveLength(0);
    await measure("o200k", ["lost"]);
    expect(asked).toEqual([["lost"]]);
  });

  test("tells texts apart by a number, whatever their order of slices", async () => {
    const measure = createMeasurer(inProcess);
    const [a, b, again] = await measure("o200k", ["one", "two", "one"]);
    expect(a?.id).toBe(again?.id);
    expect(a?.id).not.toBe(b?.id);
  });
});

describe("the thread", () => {
  const thread = new TokenizerThread();
  afterAll(() => thread.close());

  test("measures as this process does, in both vocabularies", async () => {
    const texts = ["Hello, world", "", "日本語 and 12345"];
    await thread.warm("o200k");
    expect(await thread.measure("o200k", texts)).toEqual(await inProcess("o200k", texts));
    expect(await thread.measure("cl100k", texts)).toEqual(await inProcess("cl100k", texts));
  });

  test("answers in the order of the questions", async () => {
    const answers = await Promise.all(["a b", "a b c", "a"].map((text) => thread.measure("o200k", [text])));
    expect(answers.map(tokensOf)).toEqual([2, 3, 1]);
  });

  test("that ends fails what it had not answered, and the next text starts another", async () => {
    const pending = thread.measure("o200k", ["a".repeat(4_000_000)]);
    const failed = expect(pending).rejects.toThrow("the tokenizer's thread has ended");
    await thread.close();
    await failed;
    expect(tokensOf(await thread.measure("o200k", ["a b"]))).toBe(2);
  });
});
