import { describe, expect, test } from "vitest";
import { openrouter } from "../../src/upstream/openrouter/index.ts";
import { answering, ask, modelsOf, windowFor } from "./answers.ts";
import { routerModel } from "./shapes.ts";

const discover = async (...data: unknown[]) => openrouter.discover(answering({ "GET v1 /models": { data } }).query);

describe("windows", () => {
  test("what the provider serves before what the model can", async () => {
    const provider = { context_length: 32_768, max_completion_tokens: 8_192, is_moderated: false };
    const [model] = modelsOf(await discover(routerModel("a/b", { context_length: 131_072, top_provider: provider })));
    expect(model).toMatchObject({ window: 32_768, source: "served", maxOutput: 8_192, maxInput: null });
  });

  test("B5: an output limit equal to the window is told as it is", async () => {
    const provider = { context_length: 131_072, max_completion_tokens: 131_072 };
    const [model] = modelsOf(await discover(routerModel("a/b", { context_length: 131_072, top_provider: provider })));
    expect(model).toMatchObject({ window: 131_072, maxOutput: 131_072 });
  });

  test("any number may be null", async () => {
    const provider = { context_length: null, max_completion_tokens: null };
    const models = modelsOf(
      await discover(
        routerModel("a/b", { top_provider: provider }),
        routerModel("a/c", { top_provider: provider, context_length: null }),
        routerModel("a/d", {
          top_provider: null,
          per_request_limits: { prompt_tokens: 9_000, completion_tokens: 500 },
        }),
      ),
    );
    expect(models.map(({ window, source, maxOutput, maxInput }) => [window, source, maxOutput, maxInput])).toEqual([
      [128_000, "served", null, null],
      [null, "unknown", null, null],
      [128_000, "served", 500, 9_000],
    ]);
  });

  test("a variant that is not listed is the plain model; one that is listed has its own window", async () => {
    const found = await discover(
      routerModel("a/b"),
      routerModel("a/b:free", { top_provider: { context_length: 8_192, max_completion_tokens: null } }),
    );
    expect(windowFor(found, "a/b:nitro")).toBe(128_000);
    expect(windowFor(found, "a/b:online")).toBe(128_000);
    expect(windowFor(found, "a/b:free")).toBe(8_192);
    expect(windowFor(found, "a/b:free:nitro")).toBeUndefined();
  });

  test("reasoning: on by default or mandatory; models without the parameter do not", async () => {
    const models = modelsOf(
      await discover(
        routerModel("a/1", { reasoning: { mandatory: true } }),
        routerModel("a/2", { reasoning: { mandatory: false, default_enabled: true } }),
        routerModel("a/3", { reasoning: { mandatory: false, default_enabled: false } }),
        routerModel("a/4", { supported_parameters: ["max_tokens", "reasoning"] }),
        routerModel("a/5"),
      ),
    );
    expect(models.map((model) => model.reasoning)).toEqual([true, true, false, null, false]);
  });
});

describe("requests", () => {
  const resume = (model: string, body = {}) => openrouter.resume("chat", model, ask("chat", body));

  test("prefill is tried where a provider may do it, and not where none does", () => {
    expect(resume("qwen/qwen3-8b")).toMatchObject({ set: {}, mark: {}, sure: false });
    expect(resume("openai/gpt-5")).toBeNull();
    expect(resume("google/gemini-3-pro")).toBeNull();
    expect(resume("anthropic/claude-sonnet-4.5")).toMatchObject({ trimsTail: true, sure: false });
    expect(resume("anthropic/claude-sonnet-4.5", { reasoning: { effort: "high" } })).toBeNull();
    expect(resume("anthropic/claude-sonnet-4.5", { reasoning: { enabled: false } })).not.toBeNull();
    expect(resume("anthropic/claude-opus-4.6")).toBeNull();
    expect(openrouter.resume("responses", "qwen/qwen3-8b", ask("responses"))).toBeNull();
  });

  test("one reasoning object: effort or budget, never both", () => {
    const effort = (body: object, step: "lower" | "off") => openrouter.effort("chat", "a/b", { ...body }, step);
    expect(effort({}, "lower")).toEqual({ reasoning: { effort: "low" }, reasoning_effort: undefined });
    expect(effort({ reasoning: { effort: "minimal" } }, "lower")).toBeNull();
    expect(effort({ reasoning: { max_tokens: 9000 } }, "lower")).toEqual({ reasoning: { max_tokens: 4500 } });
    expect(effort({ reasoning: { max_tokens: 1024 } }, "lower")).toBeNull();
    expect(JSON.parse(JSON.stringify(effort({ reasoning: { max_tokens: 9000 } }, "off")))).toEqual({
      reasoning: { enabled: false },
    });
  });

  test("edge 98: both cap fields are read; usage comes unasked", () => {
    expect(openrouter.capField("chat", "max_tokens", "a/b")).toBe("max_tokens");
    expect(openrouter.capField("chat", "max_completion_tokens", "a/b")).toBe("max_completion_tokens");
    expect(openrouter.usageAlways).toBe(true);
  });

  test("the fix is a line of config", () => {
    expect(openrouter.widen("a/b")).toContain('match: "a/b", overflow: route');
    expect(openrouter.widen('a" }]\nlisten: { keys: [')).toContain('match: "MODEL"');
  });
});
