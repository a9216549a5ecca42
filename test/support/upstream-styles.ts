import type { JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import type { Tokens } from "./upstream-script.ts";

/** The fields of a chunk or body that every server has. */
interface Base {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
}

/** How a server writes its chat replies; keys stand in the server's own order. */
export interface Style {
  readonly thought: (text: string) => JsonObject;
  /** `own`: a chunk of its own with this delta; `every`: in each delta; `first`: in the first delta with output. */
  readonly role: { readonly own: JsonObject } | "every" | "first";
  readonly frame: (base: Base, choices: JsonObject[], more: JsonObject) => JsonObject;
  /** One choice; `said` is its delta or message. */
  readonly choice: (index: number, said: JsonObject, reason: string | null, native: string | null) => JsonObject;
  readonly finishDelta: JsonObject;
  readonly usage: (tokens: Tokens) => JsonObject;
  readonly usageAlways: boolean;
  /** `usage: null` on ordinary chunks where usage was asked for. */
  readonly usageNull: boolean;
  /** `split`: name and arguments in chunks of their own; `whole`: one delta for the whole call. */
  readonly tools: "pieces" | "split" | "whole";
  /** Speed figures on the last chunk. */
  readonly timings: ((tokens: Tokens) => JsonObject) | null;
}

const plainUsage = (t: Tokens): JsonObject => ({
  prompt_tokens: t.prompt,
  completion_tokens: t.completion,
  total_tokens: t.prompt + t.completion,
});

const withLogprobs: Style["choice"] = (index, said, reason) => ({
  index,
  ...said,
  logprobs: null,
  finish_reason: reason,
});

const generic: Style = {
  thought: (text) => ({ reasoning_content: text }),
  role: { own: { role: "assistant", content: "" } },
  frame: (base, choices, more) => ({ ...base, choices, ...more }),
  choice: (index, said, reason) => ({ index, ...said, finish_reason: reason }),
  finishDelta: {},
  usage: (t) => ({
    ...plainUsage(t),
    ...(t.reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: t.reasoning } }),
  }),
  usageAlways: false,
  usageNull: false,
  tools: "pieces",
  timings: null,
};

/** One row a server. */
export const STYLES: Record<DialectName, Style> = {
  generic,
  openai: {
    ...generic,
    role: { own: { role: "assistant", content: "", refusal: null } },
    frame: (base, choices, more) => ({
      ...base,
      service_tier: "default",
      system_fingerprint: "fp_50cad350e4",
      choices,
      ...more,
    }),
    choice: withLogprobs,
    usage: (t) => ({
      ...plainUsage(t),
      prompt_tokens_details: { cached_tokens: t.cached ?? 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: t.reasoning ?? 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    }),
    usageNull: true,
  },
  lmstudio: {
    ...generic,
    role: "every",
    frame: (base, choices, more) => ({ ...base, system_fingerprint: base.model, choices, ...more }),
    choice: withLogprobs,
    tools: "split",
  },
  llamacpp: {
    ...generic,
    role: { own: { role: "assistant", content: null } },
    frame: ({ id, object, created, model }, choices, more) => ({
      choices,
      created,
      id,
      model,
      system_fingerprint: "b6500-3d4e5f6a",
      object,
      ...more,
    }),
    choice: (index, said, reason) => ({ finish_reason: reason, index, ...said }),
    usage: (t) => ({
      completion_tokens: t.completion,
      prompt_tokens: t.prompt,
      total_tokens: t.prompt + t.completion,
      prompt_tokens_details: { cached_tokens: t.cached ?? 0 },
    }),
    timings: (t) => ({
      cache_n: t.cached ?? 0,
      prompt_n: t.prompt - (t.cached ?? 0),
      prompt_ms: 10,
      predicted_n: t.completion,
      predicted_ms: 10 * t.completion,
      predicted_per_second: 100,
    }),
  },
  openrouter: {
    ...generic,
    thought: (text) => ({
      content: "",
      reasoning: text,
      reasoning_details: [{ type: "reasoning.text", text, format: "unknown", index: 0 }],
    }),
    role: "every",
    frame: ({ id, object, created, model }, choices, more) => ({
      id,
      provider: "DeepInfra",
      model,
      object,
      created,
      choices,
      ...more,
    }),
    choice: (index, said, reason, native) => ({
      index,
      ...said,
      finish_reason: reason,
      native_finish_reason: native ?? (reason === "length" ? "max_tokens" : reason),
      logprobs: null,
    }),
    finishDelta: { role: "assistant", content: "" },
    usage: (t) => ({
      ...plainUsage(t),
      cost: 0.0001,
      is_byok: false,
      prompt_tokens_details: { cached_tokens: t.cached ?? 0, cache_write_tokens: 0 },
      cost_details: { upstream_inference_cost: null },
      completion_tokens_details: { reasoning_tokens: t.reasoning ?? 0 },
    }),
    usageAlways: true,
  },
  vllm: {
    ...generic,
    thought: (text) => ({ reasoning: text }),
    choice: (index, said, reason) => ({
      ...withLogprobs(index, said, reason, null),
      ...(reason === null ? {} : { stop_reason: null, token_ids: null }),
    }),
    finishDelta: { content: "" },
  },
  ollama: {
    ...generic,
    thought: (text) => ({ content: "", reasoning: text }),
    role: "first",
    frame: (base, choices, more) => ({ ...base, system_fingerprint: "fp_ollama", choices, ...more }),
    tools: "whole",
  },
};
