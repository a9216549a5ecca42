import { describe, expect, test } from "vitest";
import { Refused } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { messages } from "../../../src/wire/messages/messages.ts";

const HELLO = [{ role: "user", content: "Hello" }];

function refusal(body: JsonObject): string | null {
  try {
    messages.read(body);
    return "taken";
  } catch (error) {
    return error instanceof Refused ? error.failure.param : null;
  }
}

describe("read", () => {
  test("a whole request", () => {
    const tool = { name: "look", description: "Look", input_schema: { type: "object" } };
    const body = {
      model: "reciter",
      max_tokens: 4096,
      stream: true,
      system: "Be brief.",
      thinking: { type: "enabled", budget_tokens: 2048 },
      stop_sequences: ["END"],
      tools: [tool],
      messages: HELLO,
    };
    expect(messages.read(body)).toEqual({
      wire: "messages",
      body,
      model: "reciter",
      stream: true,
      cap: { field: "max_tokens", tokens: 4096 },
      unlimited: false,
      verbatim: true,
      thinkingBudget: 2048,
      stop: ["END"],
      tools: [{ name: "look", schema: { type: "object" } }],
      structured: null,
      wantsUsage: true,
      logprobs: false,
      n: 1,
      unhealable: null,
    });
  });

  test("what count_tokens is asked needs no cap", () => {
    expect(messages.read({ model: "reciter", messages: HELLO }).cap).toBeNull();
  });

  test.each([0, -2, 1.5, "100", true, {}])("cap %j is refused", (max_tokens) => {
    expect(refusal({ max_tokens, messages: HELLO })).toBe("max_tokens");
  });

  test("cap -1 is no cap", () => {
    expect(messages.read({ max_tokens: -1, messages: HELLO })).toMatchObject({ cap: null, unlimited: true });
  });

  test.each<[string, JsonObject]>([
    ["messages", {}],
    ["messages", { messages: "Hello" }],
    ["messages", { messages: ["Hello"] }],
    ["system", { messages: HELLO, system: 7 }],
    ["thinking.budget_tokens", { messages: HELLO, thinking: { type: "enabled", budget_tokens: "2048" } }],
  ])("a wrong type is refused by name: %s", (param, body) => {
    expect(refusal(body)).toBe(param);
  });

  test.each<[string, JsonObject]>([
    [
      "output_config",
      { output_config: { effort: "low", format: { type: "json_schema", schema: { type: "object" } } } },
    ],
    ["output_format", { output_format: { type: "json_schema", schema: { type: "object" } } }],
  ])("a format in %s", (_, body) => {
    const ask = messages.read({ messages: HELLO, ...body });
    expect(ask.structured).toEqual({ kind: "json_schema", schema: { type: "object" } });
  });
});
