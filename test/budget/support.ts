import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { ENCODINGS, type Encoding, loadEncoding } from "../../src/budget/tokenizer/encoding.ts";
import { MEASURE_LENGTH, type MeasureText } from "../../src/budget/tokenizer/measure.ts";
import type { Backend } from "../../src/budget/tokenizers.ts";

const loaded = new Map<Encoding, MeasureText>();

/** The vocabulary read in this process: what the thread does, without a thread. */
export function measureIn(encoding: Encoding): MeasureText {
  const file = createRequire(import.meta.url).resolve(`gpt-tokenizer/data/${ENCODINGS[encoding].file}`);
  const measure = loaded.get(encoding) ?? loadEncoding(encoding, readFileSync(file));
  loaded.set(encoding, measure);
  return measure;
}

export const inProcess: Backend = async (encoding, texts) => {
  const measures = new Uint32Array(texts.length * MEASURE_LENGTH);
  texts.forEach((text, i) => {
    measureIn(encoding)(text, measures.subarray(i * MEASURE_LENGTH, (i + 1) * MEASURE_LENGTH));
  });
  return measures;
};
