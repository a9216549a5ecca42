import type { JsonObject } from "../../../src/core/json.ts";

/** One event: its data, and its name where it has one. */
export type Recorded = string | JsonObject | { readonly event: string; readonly data: string | JsonObject };

const openai = (more: JsonObject): JsonObject => ({
  id: "chatcmpl-A",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt-4o-2024-08-06",
  service_tier: "default",
  system_fingerprint: "fp_x",
  ...more,
  usage: more.usage ?? null,
  obfuscation: "Xy",
});
const delta = (said: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
  index: 0,
  delta: said,
  logprobs: null,
  finish_reason: finish,
  ...more,
});
const local = (choices: JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: "chatcmpl-x",
  object: "chat.completion.chunk",
  created: 1,
  model: "qwen3-8b",
  system_fingerprint: "qwen3-8b",
  choices,
  ...more,
});
const call = (piece: JsonObject): JsonObject => delta({ tool_calls: [{ index: 0, ...piece }] });

/** What each server's stream looks like, in its own order of keys; every kind of event that it sends. */
export const STREAMS: Readonly<Record<string, readonly Recorded[]>> = {
  openai: [
    openai({ choices: [delta({ role: "assistant", content: "", refusal: null })] }),
    openai({ choices: [delta({ content: "Hel" })] }),
    openai({ choices: [delta({ content: 'lo "finish_reason":"stop" \\ data: {"id":"1"}\n\n' })] }),
    openai({ choices: [call({ id: "call_1", type: "function", function: { name: "f", arguments: "" } })] }),
    openai({ choices: [call({ function: { arguments: '{"a":' } })] }),
    openai({ choices: [delta({}, "stop")] }),
    openai({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 } }),
    "[DONE]",
  ],
  lmstudio: [
    local([delta({ role: "assistant", reasoning_content: "le" })]),
    local([delta({ role: "assistant", content: "Hi 北京🌍é" })]),
    local([delta({ role: "assistant", content: "caf\u00e9 \u{1F30D}", tool_calls: [] })]),
    local([call({ id: "814890118", type: "function", function: { name: "get_time" } })]),
    local([delta({}, "length")]),
    local([], { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
    { event: "error", data: { error: { message: "Compute error." }, message: "Compute error." } },
    { event: "error", data: "Reached context length of 4096 tokens." },
    "[DONE]",
  ],
  llamacpp: [
    { choices: [{ finish_reason: null, index: 0, delta: { role: "assistant", content: null } }], created: 1, id: "c" },
    { choices: [{ finish_reason: null, index: 0, delta: { content: "Hi" } }], created: 1, id: "c", model: "m" },
    { choices: [{ finish_reason: null, index: 0, delta: { content: "" } }], timings: { prompt_n: 3, predicted_n: 1 } },
    {
      choices: [{ finish_reason: "length", index: 0, delta: {} }],
      timings: { cache_n: 1, prompt_n: 12, predicted_n: 8 },
    },
    { error: { code: 500, message: "Context size has been exceeded.", type: "server_error" } },
    "[DONE]",
  ],
  openrouter: [
    local([
      delta(
        {
          role: "assistant",
          content: "",
          reasoning: "ok",
          reasoning_details: [{ type: "reasoning.text", text: "ok", format: "unknown", index: 0 }],
        },
        null,
        { native_finish_reason: null },
      ),
    ]),
    local([delta({ content: "", reasoning_details: [{ type: "reasoning.encrypted", data: "Zm9v" }] })]),
    local([delta({ content: "", reasoning_details: [{ type: "reasoning.text", text: "", signature: "sig" }] })]),
    local([delta({ role: "assistant", content: "Hi" }, null, { native_finish_reason: null })]),
    local([delta({ role: "assistant", content: "" }, "length", { native_finish_reason: "max_tokens" })]),
    local([delta({ content: "" }, "error")], { error: { code: 429, message: "Rate limit exceeded" } }),
    local([delta({ content: "x" }, null, { error: { code: 502, message: "gone" } })]),
  ],
  vllm: [
    local([delta({ role: "assistant", content: "" })], { prompt_token_ids: null }),
    local([delta({ reasoning: "hm" })]),
    local([delta({ content: "a" })], { usage: { prompt_tokens: 1, completion_tokens: 2 } }),
    local([delta({ content: "end" }, "length", { stop_reason: null, token_ids: null })]),
    { object: "error", message: "boom", type: "BadRequestError", code: 400 },
  ],
  ollama: [
    local([delta({ role: "assistant", content: "a <b> & c" })]),
    local([delta({}, "stop")], { done_reason: "length" }),
    { error: "unexpected EOF" },
  ],
  groq: [
    local([delta({ content: "a" })], { x_groq: { id: "req_1" } }),
    local([delta({}, "stop")], { x_groq: { id: "req_1", usage: { prompt_tokens: 1, completion_tokens: 1 } } }),
  ],
  mistral: [
    local([delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] })]),
    local([delta({ content: [{ type: "text", text: "yes" }] })]),
    local([delta({ content: "" }, "model_length")]),
  ],
  completions: [
    {
      id: "cmpl-1",
      object: "text_completion",
      choices: [{ text: "Hi", index: 0, logprobs: null, finish_reason: null }],
    },
    {
      id: "cmpl-1",
      object: "text_completion",
      choices: [{ text: "", index: 0, logprobs: null, finish_reason: "length" }],
    },
  ],
  broken: [
    ": keepalive",
    "",
    '""',
    '{"id":"1","choices":[{"index":0,"delta":{"role":"adata: {"id":"2","choices":[{"index":0,"delta":{"content":"Now"}}]}',
    local([delta({ content: "half \ufffd" })]),
    local([delta({ content: "half \ud83d" })]),
    local([delta({ content: "\udf0d other half" })]),
    local([delta({ function_call: { name: "f", arguments: "{" } })]),
    local([delta({ function_call: {} })]),
  ],
};
