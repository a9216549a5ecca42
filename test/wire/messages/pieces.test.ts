import { describe, expect, test } from "vitest";
import { messages } from "../../../src/wire/messages/messages.ts";

describe("pieces", () => {
  test("everything that costs, in prompt order", () => {
    const body = {
      tools: [{ name: "look", input_schema: {} }],
      output_config: { format: { type: "json_schema", schema: { type: "object" } } },
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "abc" },
            { type: "redacted_thinking", data: "xyz" },
            { type: "text", text: "I look." },
            { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: "a lamp" },
            {
              type: "tool_result",
              tool_use_id: "toolu_2",
              content: [
                { type: "text", text: "a picture" },
                { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
              ],
            },
            { type: "text", text: "Well?" },
            { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
            { type: "document", title: "Log", source: { type: "base64", media_type: "application/pdf", data: "JVBE" } },
            { type: "document", source: { type: "text", media_type: "text/plain", data: "plain" } },
            { type: "novelty", x: 1 },
          ],
        },
      ],
    };
    const text = (role: string, said: string, opens = false) => ({ kind: "text", role, text: said, opens });
    expect(messages.pieces(body)).toEqual([
      { kind: "tool_definition", json: '{"name":"look","input_schema":{}}' },
      { kind: "schema", json: '{"type":"object"}' },
      text("system", "", true),
      text("system", "Be brief."),
      text("user", "", true),
      text("user", "Hello"),
      text("assistant", "", true),
      text("assistant", "Hm."),
      text("assistant", "I look."),
      { kind: "tool_call", name: "look", args: '{"at":1}' },
      text("tool", "", true),
      text("tool", "a lamp"),
      text("tool", "", true),
      text("tool", "a picture"),
      { kind: "image", url: "data:image/png;base64,AAAA", detail: "auto" },
      text("user", "", true),
      text("user", "Well?"),
      { kind: "image", url: "https://example.com/a.png", detail: "auto" },
      text("user", "Log"),
      { kind: "file", base64: "JVBE", mime: "application/pdf" },
      text("user", "plain"),
      text("user", '{"type":"novelty","x":1}'),
    ]);
  });

  test("a system string and a message of results alone", () => {
    const results = [{ type: "tool_result", tool_use_id: "t", content: "done" }];
    const all = messages.pieces({ system: "Be brief.", messages: [{ role: "user", content: results }] });
    expect(all.filter((piece) => piece.kind === "text" && piece.opens)).toHaveLength(2);
  });
});
