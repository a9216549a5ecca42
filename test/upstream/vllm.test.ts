import { describe, expect, test } from "vitest";
import { vllm } from "../../src/upstream/vllm/index.ts";
import { answering, ask, modelsOf } from "./answers.ts";
import { vllmModel } from "./shapes.ts";

describe("windows", () => {
  test("the length that the engine was started with; an adapter has its parent's", async () => {
    const data = [
      vllmModel("m", 131_072),
      vllmModel("lora", undefined, { parent: "m" }),
      vllmModel("own", 4096, { parent: "m" }),
      vllmModel("odd", undefined),
    ];
    const models = modelsOf(await vllm.discover(answering({ "GET v1 /models": { data } }).query));
    expect(models.map(({ names, window, source }) => [names[0], window, source])).toEqual([
      ["m", 131_072, "loaded"],
      ["lora", 131_072, "loaded"],
      ["own", 4096, "loaded"],
      ["odd", null, "unknown"],
    ]);
  });
});

describe("counting", () => {
  test("messages with what changes their rendering, and nothing else", async () => {
    const server = answering({ "POST root /tokenize": { count: 42, max_model_len: 4096, tokens: [] } });
    const body = {
      model: "m",
      messages: [{ role: "user", content: "hi" }],
      tools: [{ type: "function" }],
      chat_template_kwargs: { enable_thinking: false },
      stream: true,
      max_tokens: 5,
    };
    expect(await vllm.count?.(server.query, ask("chat"), body)).toBe(42);
    const { stream: _, max_tokens: __, ...rendered } = body;
    expect(server.asked[0]?.body).toEqual({ ...rendered, add_generation_prompt: true, continue_final_message: false });
  });

  test("a message that is gone on with is counted as it will be rendered", async () => {
    const server = answering({ "POST root /tokenize": { count: 42 } });
    const flags = { add_generation_prompt: false, continue_final_message: true };
    await vllm.count?.(server.query, ask("chat"), { model: "m", messages: [], ...flags });
    expect(server.asked[0]?.body).toMatchObject(flags);
  });

  test("prompts; tokens need no question; other wires have no counter", async () => {
    const server = answering({ "POST root /tokenize": { count: 7 } });
    expect(await vllm.count?.(server.query, ask("completions"), { model: "m", prompt: "abc" })).toBe(7);
    expect(server.asked[0]?.body).toEqual({ model: "m", prompt: "abc", add_special_tokens: true });
    expect(await vllm.count?.(server.query, ask("completions"), { prompt: [1, 2, 3] })).toBe(3);
    expect(await vllm.count?.(server.query, ask("completions"), { prompt: ["a", "b"] })).toBeNull();
    expect(await vllm.count?.(server.query, ask("responses"), {})).toBeNull();
    expect(await vllm.count?.(answering({}, () => 404).query, ask("chat"), {})).toBeNull();
  });
});

describe("requests", () => {
  test("B56: exactly the flag pair, on the wire that has it", () => {
    expect(vllm.resume("chat", "m", ask("chat"))).toEqual({
      set: { continue_final_message: true, add_generation_prompt: false },
      setThought: {},
      mark: {},
      trimsTail: true,
      echo: "never",
      thoughts: false,
      sure: true,
    });
    expect(vllm.resume("completions", "m", ask("completions"))).toMatchObject({
      set: {},
      trimsTail: false,
      sure: true,
    });
    expect(vllm.resume("responses", "m", ask("responses"))).toMatchObject({
      mark: { status: "in_progress" },
      sure: false,
    });
    expect(vllm.resume("messages", "m", ask("messages"))).toBeNull();
  });

  test("edge 98: both cap fields are read", () => {
    expect(vllm.capField("chat", "max_completion_tokens", "m")).toBe("max_completion_tokens");
    expect(vllm.capField("chat", "max_tokens", "m")).toBe("max_tokens");
    expect(vllm.capField("chat", "n_predict", "m")).toBe("max_tokens");
    expect(vllm.unlimitedCap).toBe(false);
  });

  test("templates have a switch, gpt-oss has efforts", () => {
    expect(vllm.effort("chat", "m", {}, "off")).toEqual({
      chat_template_kwargs: { enable_thinking: false, thinking: false },
    });
    expect(vllm.effort("chat", "m", { reasoning_effort: "high" }, "lower")).toEqual({ reasoning_effort: "medium" });
    expect(vllm.effort("chat", "m", { reasoning_effort: "low" }, "lower")).toBeNull();
    expect(vllm.effort("messages", "m", {}, "lower")).toBeNull();
    expect(vllm.effort("responses", "m", {}, "lower")).toEqual({ reasoning: { effort: "low" } });
  });

  test("the fix", () => {
    expect(vllm.widen("acme/m")).toBe("vllm serve acme/m --max-model-len 32768");
  });
});
