import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { messages } from "../../../src/wire/messages/messages.ts";
import type { Compose } from "../../../src/wire/wire.ts";

const ASKED: Compose = {
  cap: null,
  thinkingBudget: null,
  how: "asked",
  partial: null,
  nudge: "Go on.",
  mark: {},
  set: {},
  without: [],
};

const HELLO = { role: "user", content: "Hello" };

function composed(body: JsonObject, how: Partial<Compose>): JsonObject {
  const whole = { model: "m", max_tokens: 100, messages: [HELLO], ...body };
  const before = structuredClone(whole);
  const made = messages.compose(messages.read(whole), { ...ASKED, ...how });
  expect(whole, "the client's own object is never changed").toEqual(before);
  return made;
}

const partial = { text: "Half a rep", reasoning: "" };

describe("compose", () => {
  test("as asked: nothing changes", () => {
    const body = { model: "m", max_tokens: 100, messages: [HELLO], metadata: { user_id: "u" } };
    expect(composed(body, {})).toEqual(body);
  });

  test("edge 98: the cap goes into the client's own field", () => {
    expect(composed({}, { cap: { field: "max_tokens", tokens: 4096 } }).max_tokens).toBe(4096);
  });

  test("the thinking budget changes inside of thinking", () => {
    const body = { thinking: { type: "enabled", budget_tokens: 5000 } };
    expect(composed(body, { thinkingBudget: 900 }).thinking).toEqual({ type: "enabled", budget_tokens: 900 });
  });

  test("resume: the partial reply as the last assistant message, with its mark", () => {
    expect(composed({}, { how: "resume", partial, mark: { prefix: true } }).messages).toEqual([
      HELLO,
      { role: "assistant", content: "Half a rep", prefix: true },
    ]);
  });

  test.each<[string, JsonObject[string], JsonObject[string]]>([
    ["a string", "Sure: ", "Sure: Half a rep"],
    ["blocks", [{ type: "text", text: "Sure: " }], [{ type: "text", text: "Sure: Half a rep" }]],
    [
      "blocks that end otherwise",
      [{ type: "tool_use", id: "t", name: "n", input: {} }],
      [
        { type: "tool_use", id: "t", name: "n", input: {} },
        { type: "text", text: "Half a rep" },
      ],
    ],
  ])("edge 74: the client's own prefill grows, %s", (_, content, grown) => {
    const body = { messages: [HELLO, { role: "assistant", content }] };
    const expected = [HELLO, { role: "assistant", content: grown }];
    expect(composed(body, { how: "resume", partial }).messages).toEqual(expected);
    expect(composed(body, { how: "nudge", partial }).messages).toEqual([
      ...expected,
      { role: "user", content: "Go on." },
    ]);
  });

  test("edge 75: tool results before it stay as they are", () => {
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "done" }] };
    expect(composed({ messages: [HELLO, result] }, { how: "resume", partial }).messages).toEqual([
      HELLO,
      result,
      { role: "assistant", content: "Half a rep" },
    ]);
  });

  test("edge 88: a thought goes first, and alone where nothing was said", () => {
    const thinking = { type: "thinking", thinking: "Hm", signature: "" };
    expect(composed({}, { how: "resume", partial: { text: "", reasoning: "Hm" } }).messages).toEqual([
      HELLO,
      { role: "assistant", content: [thinking] },
    ]);
    expect(composed({}, { how: "resume", partial: { text: "Half", reasoning: "Hm" } }).messages).toEqual([
      HELLO,
      { role: "assistant", content: [thinking, { type: "text", text: "Half" }] },
    ]);
  });

  test("edges 73, 76: a nudge follows the assistant's turn, and a thought is not told", () => {
    expect(composed({}, { how: "nudge", partial: { text: "Half", reasoning: "Hm" } }).messages).toEqual([
      HELLO,
      { role: "assistant", content: "Half" },
      { role: "user", content: "Go on." },
    ]);
  });

  test("edge 87: no empty assistant message", () => {
    const nothing = { text: "", reasoning: "" };
    expect(composed({}, { how: "resume", partial: nothing }).messages).toEqual([HELLO]);
    expect(composed({}, { how: "nudge", partial: nothing }).messages).toEqual([HELLO]);
  });

  test("a continuation leaves out the format and keeps the effort beside it", () => {
    const format = { type: "json_schema", schema: {} };
    const without = [messages.formatField];
    expect(composed({ output_config: { effort: "low", format } }, { without }).output_config).toEqual({
      effort: "low",
    });
    expect(composed({ output_config: { format } }, { without })).not.toHaveProperty("output_config");
    expect(composed({ output_format: format }, { without })).not.toHaveProperty("output_format");
  });
});
