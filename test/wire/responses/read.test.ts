import { describe, expect, test } from "vitest";
import { Refused } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { responses } from "../../../src/wire/responses/responses.ts";

function refusal(body: JsonObject): string | null {
  try {
    responses.read(body);
    return "taken";
  } catch (error) {
    return error instanceof Refused ? error.failure.param : null;
  }
}

describe("read", () => {
  test("a whole request", () => {
    const schema = { type: "object" };
    const body = {
      model: "reciter",
      input: "Hello",
      instructions: "Be brief.",
      max_output_tokens: 4096,
      stream: true,
      reasoning: { effort: "low" },
      text: { format: { type: "json_schema", name: "n", schema }, verbosity: "low" },
      tools: [
        { type: "function", name: "look", parameters: schema, strict: true },
        { type: "custom", name: "patch" },
        { type: "web_search" },
      ],
      previous_response_id: "resp_0",
      store: true,
    };
    expect(responses.read(body)).toEqual({
      wire: "responses",
      body,
      model: "reciter",
      stream: true,
      cap: { field: "max_output_tokens", tokens: 4096 },
      unlimited: false,
      verbatim: true,
      thinkingBudget: null,
      stop: [],
      tools: [
        { name: "look", schema },
        { name: "patch", schema: undefined, freeform: true },
      ],
      structured: { kind: "json_schema", schema },
      wantsUsage: true,
      logprobs: false,
      n: 1,
      unhealable: null,
    });
  });

  test.each([0, -2, 1.5, "100", true, {}])("cap %j is refused", (max_output_tokens) => {
    expect(refusal({ input: "Hello", max_output_tokens })).toBe("max_output_tokens");
  });

  test("cap -1 is no cap", () => {
    expect(responses.read({ input: "", max_output_tokens: -1 })).toMatchObject({ cap: null, unlimited: true });
  });

  test.each<[string, JsonObject]>([
    ["input", { input: 7 }],
    ["input", { input: ["Hello"] }],
    ["instructions", { input: "Hello", instructions: 7 }],
  ])("a wrong type is refused by name: %s", (param, body) => {
    expect(refusal(body)).toBe(param);
  });

  test("what a server remembers may stand for the input", () => {
    expect(refusal({ previous_response_id: "resp_0", input: null, instructions: null })).toBe("taken");
  });

  test("background is passed through and never healed", () => {
    expect(responses.read({ input: "Hello", background: true }).unhealable).toBe("background");
  });

  test("json_object, and logprobs in both ways", () => {
    expect(responses.read({ text: { format: { type: "json_object" } } }).structured).toEqual({ kind: "json_object" });
    expect(responses.read({ text: { format: { type: "text" } } }).structured).toBeNull();
    expect(responses.read({ top_logprobs: 2 }).logprobs).toBe(true);
    expect(responses.read({ include: ["message.output_text.logprobs"] }).logprobs).toBe(true);
  });
});
