import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { chat } from "../../../src/wire/chat/chat.ts";

const opens = (role: string) => ({ kind: "text", role, text: "", opens: true });
const text = (role: string, words: string) => ({ kind: "text", role, text: words, opens: false });

test("messages in order, each opened once", () => {
  const messages = [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      name: "ann",
      content: [
        { type: "text", text: "Look" },
        { type: "text", text: "here" },
      ],
    },
    { role: "assistant", content: "<think>hm</think>Well" },
  ];
  expect(chat.pieces({ messages })).toEqual([
    opens("system"),
    text("system", "Be brief."),
    opens("user"),
    text("user", "ann"),
    text("user", "Look"),
    text("user", "here"),
    opens("assistant"),
    text("assistant", "<think>hm</think>Well"),
  ]);
});

test("calls, their results, reasoning and refusals", () => {
  const messages: JsonObject[] = [
    {
      role: "assistant",
      content: null,
      reasoning_content: "so",
      tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
    },
    { role: "tool", tool_call_id: "1", content: "42" },
    { role: "assistant", content: null, refusal: "No.", function_call: { name: "g", arguments: { b: 2 } } },
    { role: "assistant", content: [{ type: "thinking", thinking: [{ type: "text", text: "deep" }] }] },
  ];
  expect(chat.pieces({ messages })).toEqual([
    opens("assistant"),
    text("assistant", "so"),
    { kind: "tool_call", name: "f", args: '{"a":1}' },
    opens("tool"),
    text("tool", "42"),
    opens("assistant"),
    text("assistant", "No."),
    { kind: "tool_call", name: "g", args: '{"b":2}' },
    opens("assistant"),
    text("assistant", "deep"),
  ]);
});

test("pictures, sounds and files", () => {
  const content = [
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
    { type: "image_url", image_url: "https://example.com/a.png" },
    { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
    { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,CCCC" } },
  ];
  expect(chat.pieces({ messages: [{ role: "user", content }] }).slice(1)).toEqual([
    { kind: "image", url: "data:image/png;base64,AAAA", detail: "low" },
    { kind: "image", url: "https://example.com/a.png", detail: "auto" },
    { kind: "audio", base64: "BBBB", format: "wav" },
    { kind: "file", base64: "CCCC", mime: "application/pdf" },
  ]);
});

test("definitions and the schema stand in front", () => {
  const tool = { type: "function", function: { name: "f", parameters: {} } };
  const json_schema = { name: "x", schema: { type: "object" } };
  const body = {
    messages: [],
    tools: [tool],
    functions: [{ name: "g" }],
    response_format: { type: "json_schema", json_schema },
  };
  expect(chat.pieces(body)).toEqual([
    { kind: "tool_definition", json: JSON.stringify(tool) },
    { kind: "tool_definition", json: '{"name":"g"}' },
    { kind: "schema", json: JSON.stringify(json_schema) },
  ]);
});
