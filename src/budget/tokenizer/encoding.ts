import { type MeasureText, measurer } from "./measure.ts";
import { type Split, splitCl100k, splitO200k } from "./split.ts";
import { readVocabulary } from "./vocabulary.ts";

/** Published vocabularies. `o200k` stands for `o200k_harmony` too: plain text is the same in both. */
export const ENCODINGS = {
  o200k: { file: "o200k_base.tiktoken", split: splitO200k },
  cl100k: { file: "cl100k_base.tiktoken", split: splitCl100k },
} as const satisfies Record<string, { readonly file: string; readonly split: Split }>;
export type Encoding = keyof typeof ENCODINGS;

/** @param file the vocabulary's `.tiktoken` file */
export function loadEncoding(encoding: Encoding, file: Uint8Array): MeasureText {
  return measurer(readVocabulary(file), ENCODINGS[encoding].split);
}
