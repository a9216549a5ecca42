import { describe, expect, test } from "vitest";
import { Refused } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { chat } from "../../../src/wire/chat/chat.ts";

const messages = [{ role: "user", content: "hi" }];
const read = (more: JsonObject) => chat.read({ model: "m", messages, ...more });

function refusal(body: JsonObject) {
  try {
    chat.read(body);
  } catch (error) {
    if (error instanceof Refused) return error.failure;
    throw error;
  }
  return null;
}

describe("B12: every cap has one outcome", () => {
  test.each([
    [null, null],
    [1, { field: "max_tokens", tokens: 1 }],
    [4096.0, { field: "max_tokens", tokens: 4096 }],
    [1e9, { field: "max_tokens", tokens: 1e9 }],
    [-1, null],
  ])("max_tokens %j", (max_tokens, cap) => {
    expect(read({ max_tokens })).toMatchObject({ cap, unlimited: max_tokens === -1 });
  });

  test.each([0, -500, 0.5, Number.NaN, Number.POSITIVE_INFINITY, true, "4096", [], {}])(
    "max_tokens %j is refused",
    (max_tokens) => {
      expect(refusal({ messages, max_tokens })).toMatchObject({ code: "invalid_request", param: "max_tokens" });
    },
  );

  test.each(["max_tokens", "max_completion_tokens", "n_predict"])("%s keeps its own name", (field) => {
    expect(read({ [field]: 9000 }).cap).toEqual({ field, tokens: 9000 });
    expect(refusal({ messages, [field]: "9000" })).toMatchObject({ param: field });
  });

  test("B18: of two caps the smaller one counts, and -1 is larger than any", () => {
    expect(read({ max_tokens: 9, max_completion_tokens: 7 }).cap).toEqual({
      field: "max_completion_tokens",
      tokens: 7,
    });
    expect(read({ max_tokens: 9, max_completion_tokens: -1 })).toMatchObject({
      cap: { field: "max_tokens", tokens: 9 },
      unlimited: false,
    });
  });
});

describe("what else is read", () => {
  test("a bare request asks for nothing more", () => {
    expect(chat.read({ messages })).toEqual({
      wire: "chat",
      body: { messages },
      model: "",
      stream: false,
      cap: null,
      unlimited: false,
      verbatim: true,
      thinkingBudget: null,
      stop: [],
      tools: [],
      structured: null,
      wantsUsage: false,
      logprobs: false,
      n: 1,
      unhealable: null,
    });
  });

  test.each([undefined, null, "hi", {}, ["hi"], [null], [[]]])("messages %j are refused", (value) => {
    expect(refusal({ messages: value as JsonObject[string] })).toMatchObject({
      code: "invalid_request",
      param: "messages",
    });
  });

  test("a model that is no string is none", () => {
    expect(read({ model: 7 }).model).toBe("");
  });

  test.each([
    [null, []],
    ["END", ["END"]],
    [
      ["a", 1, "b"],
      ["a", "b"],
    ],
  ])("stop %j", (stop, read_) => {
    expect(read({ stop }).stop).toEqual(read_);
  });

  test("tools, and functions as they were before tools", () => {
    const parameters = { type: "object" };
    const tools = [
      { type: "function", function: { name: "f", parameters } },
      { type: "custom", custom: { name: "c" } },
    ];
    expect(read({ tools }).tools).toEqual([
      { name: "f", schema: parameters },
      { name: "c", schema: undefined, freeform: true },
    ]);
    expect(read({ functions: [{ name: "g" }] }).tools).toEqual([{ name: "g", schema: undefined }]);
  });

  test.each([
    [{ type: "text" }, null],
    [{ type: "json_object" }, { kind: "json_object" }],
    [
      { type: "json_object", schema: { type: "array" } },
      { kind: "json_schema", schema: { type: "array" } },
    ],
    [
      { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } },
      { kind: "json_schema", schema: { type: "object" } },
    ],
  ])("response_format %j", (response_format, structured) => {
    expect(read({ response_format }).structured).toEqual(structured);
  });

  test("stream, usage, logprobs, and a thinking budget", () => {
    const ask = read({
      stream: true,
      stream_options: { include_usage: true },
      logprobs: true,
      reasoning: { max_tokens: 99 },
    });
    expect(ask).toMatchObject({ stream: true, wantsUsage: true, logprobs: true, thinkingBudget: 99 });
    expect(read({ stream_options: { include_usage: false } }).wantsUsage).toBe(false);
  });

  test.each([
    [{ n: 2 }, "n", 2],
    [{ n: 1 }, null, 1],
    [{ n: null }, null, 1],
    [{ modalities: ["text", "audio"] }, "audio", 1],
  ])("edge 58: %j is healed or not", (more, unhealable, n) => {
    expect(read(more)).toMatchObject({ unhealable, n });
  });
});
