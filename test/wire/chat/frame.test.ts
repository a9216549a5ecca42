import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { chat } from "../../../src/wire/chat/chat.ts";

const frame = (json: JsonObject, event = "") => chat.frame(event, JSON.stringify(json));
const delta = (said: JsonObject, more: JsonObject = {}) =>
  frame({ choices: [{ index: 0, delta: said, finish_reason: null, ...more }] });
const finish = (finish_reason: Json, choice: JsonObject = {}, top: JsonObject = {}) =>
  frame({ ...top, choices: [{ index: 0, delta: {}, finish_reason, ...choice }] });

describe("output", () => {
  test.each<[string, JsonObject, readonly object[]]>([
    ["text", { content: "Hi" }, [{ kind: "text", block: 0, text: "Hi" }]],
    [
      "LM Studio's, which repeats the role",
      { role: "assistant", content: "Hi" },
      [{ kind: "text", block: 0, text: "Hi" }],
    ],
    ["a refusal", { refusal: "No." }, [{ kind: "text", block: 1, text: "No." }]],
    ["reasoning, DeepSeek's name", { reasoning_content: "hm" }, [{ kind: "reasoning", block: 0, text: "hm" }]],
    ["reasoning, vLLM's name", { content: "", reasoning: "hm" }, [{ kind: "reasoning", block: 0, text: "hm" }]],
    [
      "B44: reasoning in both names is one",
      { reasoning_content: "hm", reasoning: "hm" },
      [{ kind: "reasoning", block: 0, text: "hm" }],
    ],
    [
      "B44: reasoning and its details are one",
      { reasoning: "ok", reasoning_details: [{ type: "reasoning.text", text: "ok" }] },
      [{ kind: "reasoning", block: 0, text: "ok" }],
    ],
    [
      "details alone",
      { reasoning_details: [{ type: "reasoning.text", text: "t" }] },
      [{ kind: "reasoning", block: 0, text: "t" }],
    ],
    [
      "sealed: encrypted",
      { reasoning_details: [{ type: "reasoning.encrypted", data: "Zm9v" }] },
      [{ kind: "sealed_reasoning", block: 0 }],
    ],
    [
      "sealed: a summary",
      { reasoning_details: [{ type: "reasoning.summary", summary: "s" }] },
      [
        { kind: "reasoning", block: 0, text: "s" },
        { kind: "sealed_reasoning", block: 0 },
      ],
    ],
    [
      "sealed: signed",
      { reasoning_details: [{ type: "reasoning.text", text: "", signature: "x" }] },
      [{ kind: "sealed_reasoning", block: 0 }],
    ],
    [
      "Mistral's typed parts",
      {
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
          { type: "text", text: "yes" },
        ],
      },
      [
        { kind: "reasoning", block: 0, text: "hm" },
        { kind: "text", block: 0, text: "yes" },
      ],
    ],
    [
      "the start of a call",
      { tool_calls: [{ index: 1, id: "c", type: "function", function: { name: "f" } }] },
      [{ kind: "tool", block: 1, id: "c", name: "f", args: "" }],
    ],
    [
      "a piece of a call",
      { tool_calls: [{ index: 1, function: { arguments: '{"a"' } }] },
      [{ kind: "tool", block: 1, id: "", name: "", args: '{"a"' }],
    ],
    [
      "two whole calls without numbers",
      {
        tool_calls: [
          { id: "a", function: { name: "f", arguments: {} } },
          { id: "b", function: { name: "g", arguments: "{}" } },
        ],
      },
      [
        { kind: "tool", block: 0, id: "a", name: "f", args: "{}" },
        { kind: "tool", block: 1, id: "b", name: "g", args: "{}" },
      ],
    ],
    [
      "a call as before tools",
      { function_call: { name: "f", arguments: "{" } },
      [{ kind: "tool", block: 0, id: "", name: "f", args: "{" }],
    ],
    ["what no part has: sound", { audio: { data: "AA" } }, []],
    ["what nobody knows", { content: "", reasoning_items: [{ x: 1 }] }, []],
  ])("%s", (_, said, parts) => {
    expect(delta(said)).toMatchObject({ kind: "output", parts, garbage: false });
  });

  test("B43: tags in text are text", () => {
    expect(delta({ content: "<think>plan" }).parts).toEqual([{ kind: "text", block: 0, text: "<think>plan" }]);
  });

  test("B53: of several choices only the first one's output, but the finish of each", () => {
    const other = frame({ choices: [{ index: 1, delta: { content: "Bl" }, finish_reason: "length" }] });
    expect(other).toMatchObject({
      kind: "output",
      parts: [{ kind: "finish", choice: 1, finish: { kind: "cap", raw: "length" } }],
    });
  });
});

describe("what is no output", () => {
  test.each<[string, JsonObject]>([
    ["a role", { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }],
    [
      "llama-server's role",
      { choices: [{ index: 0, delta: { role: "assistant", content: null }, finish_reason: null }] },
    ],
    ["an empty delta", { choices: [{ index: 0, delta: {} }] }],
    ["no choice at all", { choices: [], prompt_filter_results: [] }],
    ["no calls", { choices: [{ index: 0, delta: { tool_calls: [], function_call: {} }, finish_reason: "" }] }],
    ["progress", { choices: [{ index: 0, delta: { role: "assistant" } }], prompt_progress: { total: 9 } }],
  ])("%s is quiet", (_, json) => {
    expect(frame(json)).toMatchObject({ kind: "quiet", parts: [], usageOnly: false, garbage: false });
  });

  test.each(["", ": keepalive", '""', "3", "null", '{"id":"1","choices":[{"ro'])("B61, B75: %j is garbage", (data) => {
    expect(chat.frame("", data)).toMatchObject({ kind: "quiet", parts: [], json: null, garbage: true });
  });

  test("the terminal event", () => {
    expect(chat.frame("", "[DONE]")).toMatchObject({
      kind: "tail",
      json: null,
      parts: [{ kind: "end" }],
      garbage: false,
    });
  });
});

describe("finish", () => {
  test.each([
    ["stop", "done"],
    ["eos", "done"],
    ["length", "cap"],
    ["max_tokens", "cap"],
    ["MAX_TOKENS", "cap"],
    ["max_output_tokens", "cap"],
    ["model_length", "window"],
    ["model_context_window_exceeded", "window"],
    ["tool_calls", "tools"],
    ["function_call", "tools"],
    ["content_filter", "filter"],
    ["refusal", "filter"],
    ["SAFETY", "filter"],
    ["error", "error"],
    ["insufficient_system_resource", "error"],
    ["abort", "error"],
    ["toString", "other"],
    ["weird", "other"],
  ])("B28: %s is %s", (raw, kind) => {
    expect(finish(raw)).toMatchObject({
      kind: "tail",
      usageOnly: false,
      parts: [{ kind: "finish", choice: 0, finish: { kind, raw } }],
    });
  });

  test.each([null, "", 7, {}])("B28: %j is none", (raw) => {
    expect(finish(raw as Json).parts).toEqual([]);
  });

  test("B25: Ollama's own word beside `stop` wins", () => {
    expect(finish("stop", {}, { done_reason: "length" }).parts).toMatchObject([
      { finish: { kind: "cap", raw: "length" } },
    ]);
    expect(finish("stop", { done_reason: "length" }).parts).toMatchObject([{ finish: { kind: "cap" } }]);
    expect(finish("stop", {}, { done_reason: "stop" }).parts).toMatchObject([
      { finish: { kind: "done", raw: "stop" } },
    ]);
  });

  test("edge 14: a full window by the server's own word", () => {
    expect(finish("length", { native_finish_reason: "model_length" }).parts).toMatchObject([
      { finish: { kind: "window", raw: "length" } },
    ]);
    expect(finish("length", {}, { stats: { stop_reason: "contextLengthReached" } }).parts).toMatchObject([
      { finish: { kind: "window" } },
    ]);
    expect(finish("length", { native_finish_reason: "max_tokens" }).parts).toMatchObject([{ finish: { kind: "cap" } }]);
  });

  test("calls are not overruled by a word beside them", () => {
    expect(finish("tool_calls", { native_finish_reason: "length" }).parts).toMatchObject([
      { finish: { kind: "tools" } },
    ]);
  });
});

describe("usage", () => {
  const usage = { prompt_tokens: 9, completion_tokens: 12, completion_tokens_details: { reasoning_tokens: 3 } };
  const part = { kind: "usage", usage: { prompt: 9, completion: 12, reasoning: 3, raw: usage } };

  test.each<[string, JsonObject, boolean]>([
    ["alone", { choices: [], usage }, true],
    ["B65: beside an empty choice", { choices: [{ index: 0, delta: {} }], usage }, true],
    ["Groq's", { choices: [{ index: 0, delta: {} }], x_groq: { usage } }, true],
    ["beside the finish", { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }, false],
  ])("%s", (_, json, usageOnly) => {
    const read = frame(json);
    expect(read).toMatchObject({ kind: "tail", usageOnly });
    expect(read.parts).toContainEqual(part);
  });

  test("B52: with output (vLLM, continuous) it is output", () => {
    const read = frame({ choices: [{ index: 0, delta: { content: "a" } }], usage });
    expect(read).toMatchObject({ kind: "output", usageOnly: false, parts: [{ kind: "text" }, part] });
  });

  test("llama-server's timings stand in, the cache counted", () => {
    const timings = { cache_n: 4, prompt_n: 8, predicted_n: 3 };
    expect(finish("length", {}, { timings }).parts).toContainEqual({
      kind: "usage",
      usage: { prompt: 12, completion: 3, reasoning: null, raw: {} },
    });
    expect(finish("length", {}, { timings, usage }).parts).toContainEqual(part);
  });

  test.each([null, {}, { cost: 1 }])("usage %j is none", (none) => {
    expect(frame({ choices: [], usage: none })).toMatchObject({ kind: "quiet", parts: [] });
  });
});

describe("faults", () => {
  const fault = (read: ReturnType<typeof frame>) => read.parts.find((part) => part.kind === "fault")?.fault;

  test.each<[string, JsonObject, string, object]>([
    [
      "llama-server, late",
      { error: { code: 500, message: "m", type: "server_error" } },
      "",
      { status: 500, message: "m", type: "server_error", code: "500" },
    ],
    ["a bare string", { error: "m" }, "", { status: 200, message: "m", type: null, code: null }],
    ["LM Studio, twice", { error: { message: "m" }, message: "m" }, "error", { status: 200, message: "m" }],
    ["by the event alone", { message: "m" }, "error", { message: "m" }],
    [
      "older vLLM",
      { object: "error", message: "m", code: 400, type: "BadRequestError" },
      "",
      { status: 400, message: "m", type: "BadRequestError" },
    ],
    [
      "OpenRouter",
      { choices: [], error: { code: 429, message: "m", metadata: { error_type: "rate_limit_exceeded" } } },
      "",
      { status: 429, type: "rate_limit_exceeded" },
    ],
    [
      "OpenRouter, in the choice",
      { choices: [{ delta: {}, error: { code: 502, message: "m" } }] },
      "",
      { status: 502, message: "m" },
    ],
    [
      "with a word for a code",
      { error: { code: "context_length_exceeded", message: "m" } },
      "",
      { status: 200, code: "context_length_exceeded" },
    ],
  ])("B24: %s", (_, json, event, expected) => {
    expect(frame(json, event).kind).toBe("tail");
    expect(fault(frame(json, event))).toMatchObject(expected);
  });

  test("Gemini's list", () => {
    expect(fault(chat.frame("", '[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]'))).toMatchObject({
      status: 400,
    });
  });

  test("LM Studio's plain text under `event: error`", () => {
    expect(chat.frame("error", "Reached context length of 4096 tokens")).toMatchObject({
      kind: "tail",
      garbage: false,
      parts: [{ kind: "fault", fault: { message: "Reached context length of 4096 tokens" } }],
    });
  });

  test("beside `finish_reason: error` both are told", () => {
    const read = frame({ choices: [{ delta: {}, finish_reason: "error" }], error: { code: 502, message: "m" } });
    expect(read.parts).toMatchObject([{ kind: "finish", finish: { kind: "error" } }, { kind: "fault" }]);
  });

  test.each([null, false, "", 0, []])("error: %j is none", (error) => {
    expect(frame({ choices: [], error: error as Json }).parts).toEqual([]);
  });
});

describe("B27: the finish travels with the last output", () => {
  test.each<[string, JsonObject, object]>([
    ["text", { content: "end" }, { kind: "text" }],
    ["reasoning", { reasoning: "end" }, { kind: "reasoning" }],
    ["a call", { tool_calls: [{ index: 0, function: { arguments: "}" } }] }, { kind: "tool" }],
  ])("%s: one output frame that says both, or two frames", (_, said, part) => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    const choice = {
      index: 0,
      delta: said,
      logprobs: { content: [] },
      finish_reason: "length",
      native_finish_reason: "length",
    };
    const whole = frame({ id: "a", unknown: 1, choices: [choice], usage });
    expect(whole).toMatchObject({ kind: "output", parts: [part, { kind: "finish" }, { kind: "usage" }] });
    const [output, tail, ...rest] = chat.split?.(whole) ?? [];
    expect(rest).toEqual([]);
    expect(output).toMatchObject({ kind: "output", parts: [part] });
    expect(output?.json).toEqual({
      id: "a",
      unknown: 1,
      choices: [{ index: 0, delta: said, logprobs: { content: [] }, finish_reason: null }],
    });
    expect(tail).toMatchObject({ kind: "tail", parts: [{ kind: "finish" }, { kind: "usage" }] });
    expect(tail?.json).toEqual({
      id: "a",
      unknown: 1,
      choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: "length", native_finish_reason: "length" }],
      usage,
    });
  });

  test("a fault with output is split too, any other frame stands alone", () => {
    const faulty = frame({ choices: [{ delta: { content: "x" } }], error: { code: 502, message: "m" } });
    expect(chat.split?.(faulty).map((half) => half.parts.map((part) => part.kind))).toEqual([["text"], ["fault"]]);
    const plain = delta({ content: "x" });
    expect(chat.split?.(plain)).toEqual([plain]);
    const tail = finish("stop");
    expect(chat.split?.(tail)).toEqual([tail]);
  });
});

describe("a plain body", () => {
  test("says all at once", () => {
    const message = {
      role: "assistant",
      content: "Hi",
      reasoning: "hm",
      tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }],
    };
    const body = {
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    };
    expect(chat.parts(body).map((part) => part.kind)).toEqual(["reasoning", "text", "tool", "finish", "usage", "end"]);
  });

  test("OpenRouter's failure in the choice keeps what was said", () => {
    const body = {
      choices: [{ message: { content: "Hal" }, finish_reason: "error", error: { code: 502, message: "m" } }],
    };
    expect(chat.parts(body).map((part) => part.kind)).toEqual(["text", "finish", "fault"]);
  });

  test.each<[JsonObject, string[]]>([
    [{ id: "x", choices: [] }, []],
    [{}, []],
    [{ error: "Unexpected endpoint or method." }, ["fault"]],
  ])("B30: %j has not ended", (body, kinds) => {
    expect(chat.parts(body).map((part) => part.kind)).toEqual(kinds);
  });
});
