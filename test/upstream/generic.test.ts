import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { dialectAt, dialects } from "../../src/upstream/index.ts";
import { answering, ask, modelsOf } from "./answers.ts";

const at = (url: string) => dialectAt("generic", new URL(url));
const generic = dialects.generic;

describe("windows", () => {
  test.each([
    ["vLLM's field", { max_model_len: 4096 }, 4096, "loaded"],
    ["llama.cpp's", { meta: { n_ctx: 4096, n_ctx_train: 131_072 } }, 4096, "loaded"],
    ["LM Studio's", { loaded_context_length: 4096, max_context_length: 131_072 }, 4096, "loaded"],
    ["Groq's", { context_window: 131_072, max_completion_tokens: 32_768 }, 131_072, "served"],
    ["OpenRouter's and others'", { context_length: 32_768 }, 32_768, "served"],
    ["Mistral's", { max_context_length: 32_768 }, 32_768, "served"],
    ["0 is unknown", { context_length: 0, max_model_len: 0 }, null, "unknown"],
    ["nothing", {}, null, "unknown"],
  ])("%s", async (_name, more, window, source) => {
    const data = [{ id: "m", object: "model", ...more }];
    const [model] = modelsOf(await generic.discover(answering({ "GET v1 /models": { data } }).query));
    expect(model).toMatchObject({ names: ["m"], window, source });
  });

  test("Groq's output limit", async () => {
    const data = [{ id: "m", context_window: 131_072, max_completion_tokens: 32_768 }];
    const [model] = modelsOf(await generic.discover(answering({ "GET v1 /models": { data } }).query));
    expect(model).toMatchObject({ maxOutput: 32_768 });
  });

  test("a hosted model behind a gateway that tells no sizes", async () => {
    const data = [{ id: "anthropic/claude-sonnet-4-5", object: "model" }];
    const [model] = modelsOf(await generic.discover(answering({ "GET v1 /models": { data } }).query));
    expect(model).toMatchObject({ window: 200_000, source: "catalog", maxOutput: 64_000 });
    expect(await generic.inspect?.(answering({}).query, "gpt-4o", null)).toMatchObject({ window: 128_000 });
    expect(await generic.inspect?.(answering({}).query, "m", null)).toBeNull();
  });

  test("no list", async () => {
    expect(await generic.discover(answering({}, () => 403).query)).toEqual({ refused: 403 });
    expect(await generic.discover(answering({}, () => 404).query)).toBeNull();
  });
});

describe("an unknown server", () => {
  test("is nudged, but a raw prompt simply goes on; the cap field is the client's", () => {
    expect(generic.resume("chat", "m", ask("chat"))).toBeNull();
    expect(generic.resume("completions", "m", ask("completions"))).toMatchObject({ set: {}, mark: {} });
    expect(generic.capField("chat", "n_predict", "m")).toBe("n_predict");
  });

  test("is told to think less only in a field that its client uses", () => {
    expect(generic.effort("chat", "m", {}, "off")).toBeNull();
    expect(generic.effort("chat", "m", { reasoning_effort: "high" }, "lower")).toEqual({ reasoning_effort: "medium" });
  });
});

describe("services known by their host", () => {
  const resume = (url: string, body: JsonObject = {}, model = "m", wire: "chat" | "messages" = "chat") =>
    at(url).resume(wire, model, ask(wire, body));

  test("DeepSeek: the beta path and a mark, thoughts too", () => {
    expect(resume("https://api.deepseek.com/v1")).toMatchObject({
      mark: { prefix: true },
      path: "/beta/chat/completions",
      thoughts: true,
      echo: "never",
    });
    expect(at("https://api.deepseek.com/v1").capField("chat", "max_completion_tokens", "m")).toBe("max_tokens");
  });

  test("edge 40: Mistral needs a mark and repeats the text; it takes no stream options", () => {
    const mistral = at("https://api.mistral.ai/v1");
    expect(mistral.resume("chat", "m", ask("chat"))).toMatchObject({ mark: { prefix: true }, echo: "always" });
    expect(mistral).toMatchObject({ usageOption: false, usageAlways: true, wires: ["chat"] });
  });

  test("Moonshot and DashScope: partial, and on DashScope only without thinking", () => {
    expect(resume("https://api.moonshot.ai/v1")).toMatchObject({ mark: { partial: true } });
    const dashscope = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1";
    expect(resume(dashscope)).toMatchObject({ mark: { partial: true } });
    expect(resume(dashscope, { enable_thinking: true })).toBeNull();
    expect(at(dashscope).effort("chat", "m", {}, "off")).toEqual({ enable_thinking: false });
    expect(at(dashscope).effort("chat", "m", {}, "lower")).toBeNull();
  });

  test("Anthropic: up to 4.5 and with thinking off, on its own wire", () => {
    const url = "https://api.anthropic.com/v1";
    const claude = (model: string, body: JsonObject = {}) => resume(url, body, model, "messages");
    expect(claude("claude-sonnet-4-5-20250929")).toMatchObject({ trimsTail: true, sure: true });
    expect(claude("claude-3-5-haiku-latest")).not.toBeNull();
    expect(claude("claude-opus-4-20250514")).not.toBeNull();
    expect(claude("claude-opus-4-6")).toBeNull();
    expect(claude("claude-sonnet-5")).toBeNull();
    expect(claude("claude-haiku-4-5", { thinking: { type: "enabled", budget_tokens: 2000 } })).toBeNull();
    expect(resume(url, {}, "claude-sonnet-4-5")).toBeNull();
  });

  test("Anthropic: its counter is asked with what it takes", async () => {
    const server = answering({ "POST v1 /messages/count_tokens": { input_tokens: 14 } });
    const body = { model: "claude-sonnet-4-5", messages: [], system: "s", max_tokens: 5, stream: true };
    const anthropic = at("https://api.anthropic.com/v1");
    expect(await anthropic.count?.(server.query, ask("messages"), body)).toBe(14);
    expect(server.asked[0]?.body).toEqual({ model: "claude-sonnet-4-5", messages: [], system: "s" });
    expect(await anthropic.count?.(server.query, ask("chat"), body)).toBeNull();
  });

  test("Anthropic: half the thinking, then none", () => {
    const effort = at("https://api.anthropic.com/v1").effort;
    const body = { thinking: { type: "enabled", budget_tokens: 6000 } };
    expect(effort("messages", "m", body, "lower")).toEqual({ thinking: { budget_tokens: 3000 } });
    expect(effort("messages", "m", { thinking: { type: "enabled", budget_tokens: 1024 } }, "lower")).toBeNull();
    expect(effort("messages", "m", {}, "off")).toBeNull();
  });

  test("the name of the host decides, not a part of it; other dialects are the same everywhere", () => {
    expect(at("https://notmistral.ai/v1")).toBe(generic);
    expect(dialectAt("vllm", new URL("https://api.mistral.ai/v1"))).toBe(dialects.vllm);
  });
});
