import { describe, expect, test } from "vitest";
import { openai } from "../../src/upstream/openai/index.ts";
import { answering, ask, modelsOf } from "./answers.ts";

describe("windows", () => {
  test("ids only: sizes come from the catalog", async () => {
    const data = ["gpt-5-mini", "gpt-4o-2024-05-13", "whatever"].map((id) => ({
      id,
      object: "model",
      owned_by: "system",
    }));
    const models = modelsOf(await openai.discover(answering({ "GET v1 /models": { data } }).query));
    expect(models.map((m) => [m.names[0], m.window, m.source, m.maxOutput, m.maxInput, m.reasoning])).toEqual([
      ["gpt-5-mini", 400_000, "catalog", 128_000, 272_000, true],
      ["gpt-4o-2024-05-13", 128_000, "catalog", 4_096, null, null],
      ["whatever", null, "unknown", null, null, null],
    ]);
  });

  test("a fine-tune that the list does not have is known by its base, without a question", async () => {
    const server = answering({});
    const inspect = (model: string) => openai.inspect?.(server.query, model, null);
    expect(await inspect("ft:gpt-4o-mini-2024-07-18:acme::abc")).toMatchObject({ window: 128_000, source: "catalog" });
    expect(await inspect("nobody")).toBeNull();
    expect(server.asked).toEqual([]);
  });

  test("a key is needed", async () => {
    expect(await openai.discover(answering({}, () => 401).query)).toEqual({ refused: 401 });
  });
});

test("counts a Responses request, sending only what the counter takes", async () => {
  const server = answering({ "POST v1 /responses/input_tokens": { object: "response.input_tokens", input_tokens: 9 } });
  const body = { model: "gpt-5", input: "hi", stream: true, max_output_tokens: 5, store: false };
  expect(await openai.count?.(server.query, ask("responses"), body)).toBe(9);
  expect(server.asked[0]?.body).toEqual({ model: "gpt-5", input: "hi" });
  expect(await openai.count?.(server.query, ask("chat"), body)).toBeNull();
});

describe("requests", () => {
  test("B18: reasoning models refuse max_tokens; others keep the client's field", () => {
    expect(openai.capField("chat", "max_tokens", "o3-mini")).toBe("max_completion_tokens");
    expect(openai.capField("chat", "max_tokens", "gpt-5.1")).toBe("max_completion_tokens");
    expect(openai.capField("chat", "max_tokens", "gpt-4o")).toBe("max_tokens");
    expect(openai.capField("chat", "max_completion_tokens", "gpt-4o")).toBe("max_completion_tokens");
    expect(openai.capField("completions", "max_tokens", "gpt-3.5-turbo-instruct")).toBe("max_tokens");
    expect(openai.capField("responses", "max_output_tokens", "gpt-5")).toBe("max_output_tokens");
  });

  test("never resumes a message; does not speak Messages", () => {
    expect(openai.resume("chat", "gpt-4o", ask("chat"))).toBeNull();
    expect(openai.resume("responses", "gpt-5", ask("responses"))).toBeNull();
    expect(openai.resume("completions", "gpt-3.5-turbo-instruct", ask("completions"))).not.toBeNull();
    expect(openai.wires).not.toContain("messages");
  });

  test("effort goes down within what the model takes", () => {
    const effort = (model: string, step: "lower" | "off", reasoning_effort?: string) =>
      openai.effort("chat", model, reasoning_effort === undefined ? {} : { reasoning_effort }, step)?.reasoning_effort;
    expect(effort("gpt-5", "off")).toBe("minimal");
    expect(effort("gpt-5.1", "off")).toBe("none");
    expect(effort("gpt-5-codex", "off")).toBe("low");
    expect(effort("o3", "lower", "low")).toBeUndefined();
    expect(effort("o3", "lower", "high")).toBe("medium");
    expect(effort("gpt-5-pro", "off")).toBeUndefined();
    expect(effort("gpt-4o", "off")).toBeUndefined();
  });
});
