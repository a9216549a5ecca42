import fc from "fast-check";
import type { WireName } from "../../src/core/ask.ts";

/** Values that are of the wrong type as often as of the right one. */
const odd = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(null, true, 0, -1, 1.5, 1e308, "", "a", "length", "stop", [], {}) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 5, arbitrary: value as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });
const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(fields, { requiredKeys: [] });

const text = fc.constantFrom(
  "",
  "Hello",
  " world",
  "<think>",
  "</think>",
  '{"a":',
  "}",
  "\uD83D",
  "\uFFFD",
  "```",
  "data: x",
  '"finish_reason": "stop"',
);
const word = fc.constantFrom(
  "stop",
  "length",
  "max_tokens",
  "tool_calls",
  "function_call",
  "content_filter",
  "error",
  "eos",
  "",
  null,
);
const id = fc.constantFrom("", "a", "b", "call_1");
const index = fc.constantFrom(0, 1, 2, -1, 1e9);
const usage = some({
  prompt_tokens: maybe(fc.nat(9999)),
  completion_tokens: maybe(fc.nat(9999)),
  input_tokens: maybe(fc.nat(99)),
  output_tokens: maybe(fc.nat(99)),
  completion_tokens_details: maybe(some({ reasoning_tokens: maybe(fc.nat(99)) })),
});
const error = some({
  message: maybe(text),
  type: maybe(fc.constant("server_error")),
  code: maybe(fc.constantFrom(500, "x", 429)),
  metadata: maybe(some({ raw: maybe(text) })),
});
const call = some({
  index: maybe(index),
  id: maybe(id),
  type: maybe(fc.constant("function")),
  function: maybe(some({ name: maybe(id), arguments: maybe(text) })),
});
const delta = some({
  role: maybe(fc.constant("assistant")),
  content: maybe(text),
  reasoning_content: maybe(text),
  reasoning: maybe(text),
  refusal: maybe(text),
  tool_calls: maybe(fc.array(maybe(call), { maxLength: 2 })),
  function_call: maybe(some({ name: maybe(id), arguments: maybe(text) })),
});
const choice = some({
  index: maybe(index),
  delta: maybe(delta),
  message: maybe(delta),
  text: maybe(text),
  finish_reason: maybe(word),
  logprobs: maybe(fc.constant(null)),
});
const chunk = some({
  id: maybe(id),
  object: maybe(fc.constantFrom("chat.completion.chunk", "error")),
  choices: maybe(fc.array(maybe(choice), { maxLength: 2 })),
  usage: maybe(usage),
  error: maybe(error),
  timings: maybe(odd),
});

const part = some({
  type: maybe(
    fc.constantFrom(
      "text",
      "thinking",
      "redacted_thinking",
      "tool_use",
      "server_tool_use",
      "output_text",
      "reasoning_text",
      "summary_text",
      "refusal",
    ),
  ),
  text: maybe(text),
  thinking: maybe(text),
  id: maybe(id),
  name: maybe(id),
  input: maybe(fc.constant({})),
  signature: maybe(text),
});
const messagesEvent = some({
  type: maybe(
    fc.constantFrom(
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
      "ping",
      "error",
    ),
  ),
  index: maybe(index),
  message: maybe(
    some({
      id: maybe(id),
      role: maybe(fc.constant("assistant")),
      usage: maybe(usage),
      content: maybe(fc.array(maybe(part), { maxLength: 2 })),
    }),
  ),
  content_block: maybe(part),
  delta: maybe(
    some({
      type: maybe(fc.constantFrom("text_delta", "thinking_delta", "signature_delta", "input_json_delta")),
      text: maybe(text),
      thinking: maybe(text),
      partial_json: maybe(text),
      signature: maybe(text),
      stop_reason: maybe(word),
    }),
  ),
  usage: maybe(usage),
  error: maybe(error),
  content: maybe(fc.array(maybe(part), { maxLength: 3 })),
  stop_reason: maybe(word),
});
const item = some({
  type: maybe(fc.constantFrom("message", "reasoning", "function_call", "custom_tool_call", "web_search_call")),
  id: maybe(id),
  call_id: maybe(id),
  name: maybe(id),
  arguments: maybe(text),
  input: maybe(text),
  content: maybe(fc.array(maybe(part), { maxLength: 2 })),
  summary: maybe(fc.array(maybe(part), { maxLength: 2 })),
  status: maybe(fc.constantFrom("completed", "incomplete", "in_progress")),
  encrypted_content: maybe(text),
});
const response = some({
  id: maybe(id),
  status: maybe(fc.constantFrom("completed", "incomplete", "failed", "in_progress")),
  output: maybe(fc.array(maybe(item), { maxLength: 3 })),
  usage: maybe(usage),
  error: maybe(error),
  incomplete_details: maybe(some({ reason: maybe(fc.constantFrom("max_output_tokens", "content_filter")) })),
});
const RESPONSES = [
  "created",
  "in_progress",
  "completed",
  "incomplete",
  "failed",
  "output_item.added",
  "output_item.done",
  "content_part.added",
  "content_part.done",
  "output_text.delta",
  "output_text.done",
  "reasoning_text.delta",
  "reasoning_summary_text.delta",
  "function_call_arguments.delta",
  "function_call_arguments.done",
  "refusal.delta",
].map((name) => `response.${name}`);
const responsesEvent = some({
  type: maybe(fc.constantFrom(...RESPONSES, "error")),
  sequence_number: maybe(fc.nat(99)),
  output_index: maybe(index),
  content_index: maybe(index),
  summary_index: maybe(index),
  item_id: maybe(id),
  delta: maybe(text),
  text: maybe(text),
  arguments: maybe(text),
  item: maybe(item),
  part: maybe(part),
  response: maybe(response),
  error: maybe(error),
  message: maybe(text),
  code: maybe(id),
});

const BODIES: Record<WireName, fc.Arbitrary<Record<string, unknown>>> = {
  chat: chunk,
  completions: chunk,
  messages: messagesEvent,
  responses: responsesEvent,
};

/** Events of a wire, some of them wrong in a place or two: name and data. */
export function events(wire: WireName): fc.Arbitrary<[string, unknown]> {
  const body = fc.oneof(
    { weight: 9, arbitrary: BODIES[wire] as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.constantFrom("[DONE]", "", "{", ": ping", "null", '"x"') },
    { weight: 1, arbitrary: odd },
  );
  const name = fc.oneof(
    { weight: 3, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.constantFrom("error", "message", "ping") },
  );
  return fc.tuple(name, body).map(([event, json]): [string, unknown] => {
    const own = typeof json === "object" && json !== null && "type" in json ? json.type : undefined;
    return event === "" && typeof own === "string" && (wire === "messages" || wire === "responses")
      ? [own.replace(/[\r\n]/g, ""), json]
      : [event, json];
  });
}

const content = fc.oneof(
  text,
  fc.array(
    maybe(
      some({
        type: maybe(
          fc.constantFrom(
            "text",
            "image_url",
            "input_text",
            "input_image",
            "tool_result",
            "tool_use",
            "file",
            "input_audio",
            "thinking",
          ),
        ),
        text: maybe(text),
        image_url: maybe(fc.constantFrom("data:image/png;base64,AAAA", { url: "x" })),
        content: maybe(text),
        id: maybe(id),
        input: maybe(odd),
        source: maybe(odd),
        file: maybe(odd),
        input_audio: maybe(odd),
      }),
    ),
    { maxLength: 3 },
  ),
);
const message = some({
  role: maybe(fc.constantFrom("user", "assistant", "system", "tool", "developer")),
  content: maybe(content),
  name: maybe(id),
  tool_calls: maybe(fc.array(maybe(call), { maxLength: 2 })),
  tool_call_id: maybe(id),
  type: maybe(fc.constantFrom("message", "function_call", "function_call_output", "reasoning")),
  call_id: maybe(id),
  arguments: maybe(text),
  output: maybe(content),
});
const tool = some({
  type: maybe(fc.constantFrom("function", "custom", "web_search")),
  name: maybe(id),
  function: maybe(some({ name: maybe(id), parameters: maybe(odd), strict: maybe(fc.boolean()) })),
  input_schema: maybe(odd),
  parameters: maybe(odd),
  custom: maybe(odd),
});
const format = some({
  type: maybe(fc.constantFrom("text", "json_object", "json_schema")),
  json_schema: maybe(some({ name: maybe(id), schema: maybe(odd) })),
  schema: maybe(odd),
  format: maybe(odd),
});

/** Requests of any wire, some of them wrong in a place or two. */
export const bodies: fc.Arbitrary<Record<string, unknown>> = some({
  model: maybe(fc.constantFrom("m", "")),
  messages: maybe(fc.array(maybe(message), { maxLength: 4 })),
  input: maybe(fc.oneof(text, fc.array(maybe(message), { maxLength: 4 }))),
  prompt: maybe(fc.oneof(text, fc.array(fc.nat(50_000), { maxLength: 4 }), fc.array(text, { maxLength: 3 }))),
  system: maybe(content),
  instructions: maybe(text),
  suffix: maybe(text),
  stream: maybe(fc.boolean()),
  stream_options: maybe(some({ include_usage: maybe(fc.boolean()) })),
  max_tokens: maybe(fc.constantFrom(1, 100, 1e6)),
  max_completion_tokens: maybe(fc.constantFrom(1, 100)),
  max_output_tokens: maybe(fc.constantFrom(1, 100)),
  n_predict: maybe(fc.constantFrom(-1, 100)),
  thinking: maybe(some({ type: maybe(fc.constantFrom("enabled", "disabled")), budget_tokens: maybe(fc.nat(9999)) })),
  reasoning: maybe(some({ effort: maybe(fc.constantFrom("low", "high")), max_tokens: maybe(fc.nat(999)) })),
  stop: maybe(fc.oneof(text, fc.array(text, { maxLength: 3 }))),
  stop_sequences: maybe(fc.array(text, { maxLength: 3 })),
  tools: maybe(fc.array(maybe(tool), { maxLength: 3 })),
  functions: maybe(fc.array(maybe(tool), { maxLength: 2 })),
  tool_choice: maybe(fc.constantFrom("auto", "none", { type: "function" })),
  response_format: maybe(format),
  text: maybe(format),
  n: maybe(fc.constantFrom(1, 2)),
  logprobs: maybe(fc.oneof(fc.boolean(), fc.nat(5))),
  background: maybe(fc.boolean()),
  store: maybe(fc.boolean()),
  previous_response_id: maybe(id),
  modalities: maybe(fc.constant(["text", "audio"])),
});
