import type { ModelFacts } from "./dialect.ts";
import { modelFacts } from "./facts.ts";

/** A hosted model's limits, in tokens. */
interface CatalogEntry {
  readonly window: number;
  readonly maxOutput: number | null;
  /** A limit on prompts that is smaller than the window. */
  readonly maxInput: number | null;
  /** Reasons whatever is asked; null: does not, or only where a request asks for it. */
  readonly reasoning: true | null;
}

/** [names, window, most output, most input, reasons]; a name stands for all that begin with it and go on with `-`. */
type Row = readonly [names: string, window: number, output: number | null, input?: number | null, reasons?: true];

/**
 * Windows of models whose servers do not list them. To add one: a row, its longest shared name, and where it was read.
 * OpenAI: the model pages, as gathered in gpt-tokenizer's model metadata. Anthropic: "Models overview" of its docs;
 * an output limit that was not read there is left out.
 */
const ROWS: readonly Row[] = [
  ["gpt-3.5-turbo gpt-3.5", 16_385, 4_096],
  ["gpt-3.5-turbo-instruct", 4_096, 4_096],
  ["gpt-4", 8_192, 8_192],
  ["gpt-4-32k", 32_768, 8_192],
  ["gpt-4-turbo gpt-4-1106 gpt-4-0125 gpt-4-vision", 128_000, 4_096],
  ["gpt-4o-2024-05-13", 128_000, 4_096],
  ["gpt-4o gpt-4o-mini chatgpt-4o gpt-4.5-preview gpt-audio", 128_000, 16_384],
  ["gpt-4o-transcribe gpt-4o-mini-transcribe", 16_000, 2_000],
  ["gpt-4o-realtime", 16_000, 4_096],
  ["gpt-4o-mini-realtime", 16_000, 4_096],
  ["gpt-4.1", 1_047_576, 32_768],
  ["o1-preview", 128_000, 32_768, null, true],
  ["o1-mini", 128_000, 65_536, null, true],
  ["o1 o3 o4-mini codex-mini", 200_000, 100_000, null, true],
  ["gpt-5 gpt-5.1 gpt-5.2 gpt-5.3-codex gpt-5.4-mini gpt-5.4-nano gpt-5.6-cyber", 400_000, 128_000, 272_000, true],
  ["gpt-5-pro", 400_000, 272_000, null, true],
  ["gpt-5-chat gpt-5.1-chat gpt-5.2-chat gpt-5.3-chat", 128_000, 16_384],
  ["gpt-5.4 gpt-5.5 gpt-5.6", 1_050_000, 128_000, 922_000, true],
  ["gpt-oss-20b gpt-oss-120b", 131_072, 131_072, null, true],
  ["claude-2.0 claude-instant", 100_000, 4_096],
  ["claude-2.1 claude-3-haiku claude-3-sonnet claude-3-opus", 200_000, 4_096],
  ["claude-3-5-sonnet claude-3-5-haiku", 200_000, 8_192],
  ["claude-3-7-sonnet", 200_000, 64_000],
  ["claude-opus-4 claude-opus-4-1", 200_000, 32_000],
  ["claude-sonnet-4 claude-sonnet-4-5 claude-haiku-4-5 claude-opus-4-5", 200_000, 64_000],
  ["claude-opus-4-6 claude-opus-4-7 claude-opus-4-8", 1_000_000, 128_000],
  ["claude-sonnet-4-6", 1_000_000, 64_000],
  ["claude-opus-5 claude-fable-5", 1_000_000, 128_000],
  ["claude-sonnet-5 claude-mythos-5", 1_000_000, null],
];

const ENTRIES: ReadonlyMap<string, CatalogEntry> = new Map(
  ROWS.flatMap(([names, window, maxOutput, maxInput = null, reasoning = null]) =>
    names.split(" ").map((name) => [name, { window, maxOutput, maxInput, reasoning }] as const),
  ),
);

/**
 * The limits of a hosted model, by the longest known name that it begins with: dates, `-latest` and the like may follow.
 * A vendor in front (`openai/`, `us.anthropic.`), `ft:` and what follows the base model are set aside. Null: not known.
 */
export function catalogOf(model: string): CatalogEntry | null {
  const base = model.startsWith("ft:") ? (model.split(":")[1] ?? "") : model.replace(/[:@].*$/s, "");
  const name = base.replace(/^.*\//s, "").replace(/^(?:[a-z-]+\.)*anthropic\./, "");
  const dashed = name.startsWith("claude-") && !name.startsWith("claude-2") ? name.replaceAll(".", "-") : name;
  for (let end = dashed.length; end > 0; end = dashed.lastIndexOf("-", end - 1)) {
    const entry = ENTRIES.get(dashed.slice(0, end));
    if (entry === undefined) continue;
    // A small number behind it makes another version of it: `claude-sonnet-4-9` is not `claude-sonnet-4`.
    return /^-\d{1,2}(?:-|$)/.test(dashed.slice(end)) ? null : entry;
  }
  return null;
}

/** Facts of a model whose server's list tells no sizes. */
export function hosted(names: readonly [string, ...string[]]): ModelFacts {
  return modelFacts(names, { ...catalogOf(names[0]), source: "catalog" });
}
