import { describe, expect, test } from "vitest";
import { responses } from "../../../src/wire/responses/responses.ts";

const text = (role: string, said: string, opens = false) => ({ kind: "text", role, text: said, opens });

describe("pieces", () => {
  test("everything that costs, in prompt order", () => {
    const body = {
      instructions: "Be brief.",
      tools: [{ type: "function", name: "look", parameters: {} }],
      text: { format: { type: "json_schema", name: "n", schema: { type: "object" } } },
      input: [
        { role: "user", content: "Hello" },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "What is it?" },
            { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "low" },
            { type: "input_file", filename: "log.pdf", file_data: "data:application/pdf;base64,JVBE" },
            { type: "input_audio", input_audio: { data: "UklG", format: "wav" } },
          ],
        },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "In short." }],
          content: [{ type: "reasoning_text", text: "Hm." }],
        },
        {
          type: "message",
          role: "assistant",
          content: [
            { type: "output_text", text: "A lamp." },
            { type: "refusal", refusal: "No more." },
          ],
        },
        { type: "function_call", call_id: "c1", name: "look", arguments: '{"at":1}' },
        { type: "function_call_output", call_id: "c1", output: "a lamp" },
        { type: "custom_tool_call", call_id: "c2", name: "patch", input: "+ lamp" },
        { type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "done" }] },
        { type: "item_reference", id: "msg_1" },
        { type: "novelty", x: 1 },
      ],
    };
    expect(responses.pieces(body)).toEqual([
      { kind: "tool_definition", json: '{"type":"function","name":"look","parameters":{}}' },
      { kind: "schema", json: '{"type":"object"}' },
      text("system", "", true),
      text("system", "Be brief."),
      text("user", "", true),
      text("user", "Hello"),
      text("user", "", true),
      text("user", "What is it?"),
      { kind: "image", url: "data:image/png;base64,AAAA", detail: "low" },
      { kind: "file", base64: "JVBE", mime: "application/pdf" },
      { kind: "audio", base64: "UklG", format: "wav" },
      text("assistant", "Hm."),
      text("assistant", "In short."),
      text("assistant", "", true),
      text("assistant", "A lamp."),
      text("assistant", "No more."),
      { kind: "tool_call", name: "look", args: '{"at":1}' },
      text("tool", "", true),
      text("tool", "a lamp"),
      { kind: "tool_call", name: "patch", args: "+ lamp" },
      text("tool", "", true),
      text("tool", "done"),
      text("assistant", '{"type":"novelty","x":1}'),
    ]);
  });

  test("a string is one user message", () => {
    expect(responses.pieces({ input: "Hello" })).toEqual([text("user", "", true), text("user", "Hello")]);
  });
});
