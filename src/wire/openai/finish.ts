import { asObject, asString, type JsonObject } from "../../core/json.ts";
import type { Finish, FinishKind } from "../../core/part.ts";

/**
 * Finish reasons in lower case; servers write them in any case. A word that is not here is `other`: an end.
 * To add one: the word, its kind, and who says it.
 */
const KINDS: Readonly<Record<string, FinishKind>> = {
  stop: "done", // everyone
  eos: "done", // text-generation servers
  eos_token: "done",
  end_turn: "done", // Anthropic, behind adapters
  stop_sequence: "done",
  eosfound: "done", // LM Studio stats
  stopstringfound: "done",
  length: "cap", // everyone
  max_tokens: "cap", // Gemini (upper case), Anthropic, behind adapters
  max_output_tokens: "cap",
  maxpredictedtokensreached: "cap", // LM Studio stats
  model_length: "window", // Mistral
  model_context_window_exceeded: "window", // Anthropic
  contextlengthreached: "window", // LM Studio stats
  tool_calls: "tools", // everyone
  function_call: "tools", // OpenAI, before tools
  tool_use: "tools", // Anthropic, behind adapters
  toolcalls: "tools", // LM Studio stats
  content_filter: "filter", // OpenAI, DeepSeek
  refusal: "filter", // Anthropic
  safety: "filter", // Gemini, this and the next
  recitation: "filter",
  error: "error", // OpenRouter, Mistral
  insufficient_system_resource: "error", // DeepSeek: retryable interruption
  abort: "error", // vLLM, SGLang
};

const WORDS = new Set(["stop", "length", "tool_calls", "function_call", "content_filter"]);

function kindOf(word: string): FinishKind {
  const key = word.toLowerCase();
  return Object.hasOwn(KINDS, key) ? (KINDS[key] ?? "other") : "other";
}

/**
 * How a choice ended, or null where it did not say; an empty word is none.
 * Adapters write `stop` over a cut and `length` over a full window, and leave the truth beside it
 * (Ollama's `done_reason`, OpenRouter's `native_finish_reason`, LM Studio's `stats.stop_reason`).
 */
export function finishOf(choice: JsonObject, json: JsonObject): Finish | null {
  const raw = asString(choice.finish_reason) ?? "";
  if (raw === "") return null;
  const kind = kindOf(raw);
  const beside = [
    choice.native_finish_reason,
    choice.done_reason,
    json.done_reason,
    asObject(json.stats)?.stop_reason,
  ].filter((word) => typeof word === "string");
  for (const word of beside) {
    const native = kindOf(word);
    if (kind === "cap" && native === "window") return { kind: native, raw };
    if (kind === "done" && (native === "cap" || native === "window")) return { kind: native, raw: word };
  }
  return { kind, raw };
}

/** A finish in the words of the chat and completions wires; `legacy` calls functions, not tools. */
export function wordOf(finish: Finish, legacy: boolean): string {
  if (WORDS.has(finish.raw)) return finish.raw;
  switch (finish.kind) {
    case "done":
    case "pause":
      return "stop";
    case "cap":
    case "window":
      return "length";
    case "tools":
      return legacy ? "function_call" : "tool_calls";
    case "filter":
    case "error":
    case "other":
      return finish.raw;
    default:
      return finish.kind satisfies never;
  }
}

/** A choice of a reply that goes on: no word of an end, nor beside one. */
export function stillOpen(choice: JsonObject): JsonObject {
  const { error, native_finish_reason, done_reason, stop_reason, ...open } = choice;
  return { ...open, finish_reason: null };
}
