import * as published from "gpt-tokenizer/models";
import { describe, expect, test } from "vitest";
import { catalogOf } from "../../src/upstream/catalog.ts";

describe("hosted models", () => {
  test("the table agrees with gpt-tokenizer's metadata of every chat model that it has", () => {
    const chat = /^(gpt-(3\.5-turbo|4|5)|o[134]|chatgpt-4o|codex)/;
    const elsewhere = /realtime|transcribe|tts|image|search|deep-research|16k/;
    const wrong: string[] = [];
    let seen = 0;
    for (const [name, model] of Object.entries(published as Record<string, Record<string, unknown>>)) {
      if (!chat.test(name) || elsewhere.test(name) || typeof model.context_window !== "number") continue;
      seen++;
      const ours = catalogOf(name);
      if (ours?.window !== model.context_window || ours.maxOutput !== model.max_output_tokens)
        wrong.push(
          `${name}: ${ours?.window}/${ours?.maxOutput}, not ${model.context_window}/${model.max_output_tokens}`,
        );
    }
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(50);
  });
});
