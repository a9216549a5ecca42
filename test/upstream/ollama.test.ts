import { describe, expect, test } from "vitest";
import { modelFacts } from "../../src/upstream/facts.ts";
import { ollama } from "../../src/upstream/ollama/index.ts";
import { answering, ask, modelsOf, windowFor } from "./answers.ts";
import { ollamaTag } from "./shapes.ts";

const show = (more = {}) => ({
  parameters: 'stop                           "<|im_end|>"\ntemperature                    0.6',
  model_info: { "general.architecture": "qwen3", "qwen3.context_length": 262_144, "qwen3.embedding_length": 4096 },
  capabilities: ["completion", "tools", "thinking"],
  ...more,
});

describe("windows", () => {
  test("B17: what was allocated, not what the model could do", async () => {
    const server = answering({
      "GET root /api/tags": { models: [ollamaTag("qwen3:latest"), ollamaTag("qwen3:32b")] },
      "GET root /api/ps": { models: [ollamaTag("qwen3:latest", { context_length: 4096 })] },
      "POST root /api/show": show(),
    });
    const found = await ollama.discover(server.query);
    expect(modelsOf(found)[0]).toMatchObject({
      names: ["qwen3:latest", "qwen3"],
      window: 4096,
      source: "loaded",
      provisional: false,
    });
    expect(windowFor(found, "qwen3")).toBe(4096);
    expect(modelsOf(found)[1]).toMatchObject({ names: ["qwen3:32b"], window: null, provisional: true });
  });

  test("B14: not in memory: what its file asks for, provisional and never above the trained length", async () => {
    const inspect = async (more: object) =>
      ollama.inspect?.(answering({ "POST root /api/show": show(more) }).query, "qwen3", null);
    expect(await inspect({})).toMatchObject({
      names: ["qwen3"],
      window: null,
      source: "trained",
      trained: 262_144,
      reasoning: true,
      provisional: true,
    });
    expect(await inspect({ parameters: "num_ctx                        8192" })).toMatchObject({
      window: 8192,
      source: "served",
      provisional: true,
    });
    expect(await inspect({ parameters: "temperature 1\nnum_ctx 1000000" })).toMatchObject({ window: 262_144 });
    expect(await inspect({ capabilities: ["completion"] })).toMatchObject({ reasoning: false });
    expect(await inspect({ capabilities: undefined })).toMatchObject({ reasoning: null });
  });

  test("a listed model keeps its names; an unknown one is not made up", async () => {
    const listed = modelFacts(["qwen3:latest", "qwen3"], { provisional: true });
    const server = answering({ "POST root /api/show": show() });
    expect(await ollama.inspect?.(server.query, "qwen3", listed)).toMatchObject({ names: listed.names });
    expect(server.asked[0]?.body).toEqual({ model: "qwen3" });
    const missing = answering({}, () => ({ error: "model 'x' not found" }));
    expect(await ollama.inspect?.(missing.query, "x", null)).toBeNull();
  });

  test("B17: what runs cannot be asked: unknown, not the maximum", async () => {
    const server = answering({ "GET root /api/tags": { models: [ollamaTag("m")] } }, () => 404);
    expect(modelsOf(await ollama.discover(server.query))).toMatchObject([{ window: null, provisional: true }]);
    expect(await ollama.discover(answering({}, () => 401).query)).toEqual({ refused: 401 });
  });
});

describe("requests", () => {
  test("edge 98, B18: max_completion_tokens would be no cap, so it is renamed", () => {
    expect(ollama.capField("chat", "max_completion_tokens", "m")).toBe("max_tokens");
    expect(ollama.capField("chat", "max_tokens", "m")).toBe("max_tokens");
    expect(ollama.capField("responses", "max_output_tokens", "m")).toBe("max_output_tokens");
    expect(ollama.unlimitedCap).toBe(true);
  });

  test("a trailing message, trimmed, is tried; a prompt would end up in the user's turn", () => {
    expect(ollama.resume("chat", "m", ask("chat"))).toMatchObject({
      set: {},
      trimsTail: true,
      thoughts: false,
      sure: false,
    });
    expect(ollama.resume("completions", "m", ask("completions"))).toBeNull();
  });

  test("edge 15, B99: drops old messages silently, and calls cut replies finished on Responses", () => {
    expect(ollama.truncatesSilently).toBe(true);
    expect(ollama.hidesCuts).toEqual(["responses"]);
  });

  test("efforts and the fix", () => {
    expect(ollama.effort("chat", "m", {}, "off")).toEqual({ reasoning_effort: "none" });
    expect(ollama.effort("chat", "m", { reasoning_effort: "max" }, "lower")).toEqual({ reasoning_effort: "high" });
    expect(ollama.effort("messages", "m", { thinking: { type: "enabled", budget_tokens: 5000 } }, "off")).toEqual({
      thinking: { type: "disabled", budget_tokens: undefined },
    });
    expect(ollama.widen("m")).toBe("OLLAMA_CONTEXT_LENGTH=32768 ollama serve");
  });
});
