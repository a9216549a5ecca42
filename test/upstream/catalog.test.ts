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

  test.each([
    ["gpt-4o-2024-05-13", 128_000, 4_096],
    ["gpt-4o-2024-11-20", 128_000, 16_384],
    ["openai/gpt-5-mini", 400_000, 128_000],
    ["ft:gpt-4o-mini-2024-07-18:acme::abc", 128_000, 16_384],
    ["ft:gpt-3.5-turbo-0125:acme::abc", 16_385, 4_096],
    ["claude-sonnet-4-20250514", 200_000, 64_000],
    ["claude-3-5-sonnet-latest", 200_000, 8_192],
    ["anthropic/claude-3.7-sonnet:thinking", 200_000, 64_000],
    ["claude-opus-4-1@20250805", 200_000, 32_000],
    ["us.anthropic.claude-haiku-4-5-20251001-v1:0", 200_000, 64_000],
    ["anthropic/claude-opus-4.6", 1_000_000, 128_000],
  ])("%s", (name, window, maxOutput) => {
    expect(catalogOf(name)).toMatchObject({ window, maxOutput });
  });

  test.each([
    "",
    "llama-3.1-8b",
    "gpt-6",
    "gpt-5.9",
    "gpt-4omni",
    "claude-sonnet-4-9",
    "claude",
    "o",
    "gpt",
    "my-gpt-4o",
  ])("%j is not guessed", (name) => {
    expect(catalogOf(name)).toBeNull();
  });

  test("B5: a limit on prompts alone is apart from the window", () => {
    expect(catalogOf("gpt-5")).toMatchObject({ window: 400_000, maxInput: 272_000 });
    expect(catalogOf("gpt-4o")).toMatchObject({ maxInput: null });
  });
});
