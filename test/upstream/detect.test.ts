import { describe, expect, test } from "vitest";
import { detect } from "../../src/upstream/detect.ts";
import { answering } from "./answers.ts";
import {
  llamaModel,
  llamaNotFound,
  llamaProps,
  llamaRouted,
  llamaRouterProps,
  lmModel,
  lmOlder,
  lmUnknown,
  ollamaTag,
  routerModel,
  vllmModel,
} from "./shapes.ts";

const LOCAL = new URL("http://localhost:1234/v1");
const list = (...data: unknown[]) => ({ object: "list", data });
const lmNames = list({ id: "m", object: "model", owned_by: "organization_owner" });

describe("by the shape of answers", () => {
  test.each([
    ["LM Studio 0.4", "lmstudio", { "GET root /api/v1/models": { models: [lmModel("m", { m: 8192 })] } }],
    ["LM Studio 0.4 without any model", "lmstudio", { "GET root /api/v1/models": { models: [] } }],
    ["LM Studio 0.3", "lmstudio", { "GET root /api/v0/models": lmOlder }],
    ["llama-server", "llamacpp", { "GET root /props": llamaProps(8192) }],
    ["a llama-server router", "llamacpp", { "GET root /props": llamaRouterProps }],
    [
      "llama-server that is still loading",
      "llamacpp",
      { "GET root /props": { error: { code: 503, message: "Loading model", type: "unavailable_error" } } },
    ],
    [
      "llama-server that wants a key for /props",
      "llamacpp",
      { "GET root /props": 401, "GET v1 /models": list(llamaModel("m", { n_ctx: 8192 })) },
    ],
    ["Ollama", "ollama", { "GET root /api/version": { version: "0.13.5" }, "GET root /api/ps": { models: [] } }],
    ["vLLM", "vllm", { "GET v1 /models": list(vllmModel("m", 4096)) }],
    ["SGLang", "vllm", { "GET v1 /models": list(vllmModel("m", 4096, { owned_by: "sglang" })) }],
    ["a gateway in front of OpenRouter", "openrouter", { "GET v1 /models": { data: [routerModel("a/b")] } }],
    ["any other server", "generic", { "GET v1 /models": list({ id: "m", object: "model" }) }],
    ["a server that wants a key", "generic", { "GET v1 /models": 401 }],
    // vLLM has a version too, but no `/api/ps`.
    ["a version alone", "generic", { "GET root /api/version": { version: "1" }, "GET v1 /models": list() }],
  ])("%s", async (_name, dialect, answers) => {
    const server = answering(answers, () => 404);
    expect(await detect(server.query, LOCAL)).toEqual({ dialect, answered: true });
  });

  test("LM Studio answers 200 to everything, and is nobody else for that", async () => {
    const modern = answering(
      { "GET root /api/v1/models": { models: [lmModel("m", {})] }, "GET v1 /models": lmNames },
      lmUnknown,
    );
    expect(await detect(modern.query, LOCAL)).toEqual({ dialect: "lmstudio", answered: true });
    // Not one question that it would log as an error.
    expect(modern.asked.map(({ at }) => at)).toEqual(["GET root /api/v1/models", "GET root /api/v0/models"]);

    const old = answering({ "GET root /api/v0/models": { data: [] }, "GET v1 /models": lmNames }, lmUnknown);
    expect(await detect(old.query, LOCAL)).toEqual({ dialect: "lmstudio", answered: true });
  });

  test("a 200 with an error in it proves nothing for the others", async () => {
    const odd = answering({}, () => ({ error: "no such thing" }));
    expect(await detect(odd.query, LOCAL)).toEqual({ dialect: "generic", answered: true });
  });

  test("where two shapes fit, the order decides", async () => {
    const both = answering(
      { "GET root /props": llamaProps(8192), "GET v1 /models": list(vllmModel("m", 4096)) },
      () => llamaNotFound,
    );
    expect(await detect(both.query, LOCAL)).toMatchObject({ dialect: "llamacpp" });
  });

  test("nobody there: generic, to be asked again; at most seven questions, none twice", async () => {
    const silent = answering({});
    expect(await detect(silent.query, LOCAL)).toEqual({ dialect: "generic", answered: false });
    const asked = silent.asked.map(({ at }) => at);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.length).toBeLessThanOrEqual(7);
  });

  test("Ollama without a model and a router with one are told apart by more than an empty list", async () => {
    const routed = answering(
      { "GET v1 /models": list(llamaRouted("a", "unloaded", null)), "GET root /api/ps": { models: [ollamaTag("m")] } },
      () => 404,
    );
    expect(await detect(routed.query, LOCAL)).toMatchObject({ dialect: "llamacpp" });
  });
});

describe("hosted services by name, asked nothing", () => {
  test.each([
    ["https://openrouter.ai/api/v1", "openrouter"],
    ["https://eu.openrouter.ai/api/v1", "openrouter"],
    ["https://api.openai.com/v1", "openai"],
    ["https://eu.api.openai.com/v1", "openai"],
    ["https://api.deepseek.com/v1", "generic"],
    ["https://api.mistral.ai/v1", "generic"],
    ["https://api.groq.com/openai/v1", "generic"],
    ["https://api.anthropic.com/v1", "generic"],
  ])("%s", async (url, dialect) => {
    const server = answering({});
    expect(await detect(server.query, new URL(url))).toEqual({ dialect, answered: true });
    expect(server.asked).toEqual([]);
  });

  test("a name that only ends alike is asked like any other", async () => {
    const server = answering({ "GET v1 /models": list() }, () => 404);
    expect(await detect(server.query, new URL("https://notopenrouter.ai/v1"))).toEqual({
      dialect: "generic",
      answered: true,
    });
    expect(server.asked.length).toBeGreaterThan(0);
  });
});
