import { describe, expect, test } from "vitest";
import { llamacpp } from "../../src/upstream/llamacpp/index.ts";
import { answering, ask, modelsOf, windowFor } from "./answers.ts";
import { llamaModel, llamaProps, llamaRouted, llamaRouterProps } from "./shapes.ts";

const list = (...data: unknown[]) => ({ object: "list", data });

describe("windows", () => {
  test("one model: its slot's size from the list, under any name", async () => {
    const model = llamaModel("other", { n_ctx: 2048, n_ctx_train: 4096 }, { aliases: ["other", "recite"] });
    const server = answering({ "GET v1 /models": list(model) });
    const [only] = modelsOf(await llamacpp.discover(server.query));
    expect(only).toMatchObject({
      names: ["other", "recite"],
      window: 2048,
      source: "loaded",
      trained: 4096,
      provisional: false,
      anyName: true,
    });
    expect(server.asked).toHaveLength(1);
  });

  test("an older build tells it in /props only", async () => {
    const server = answering({
      "GET v1 /models": list(llamaModel("m", { n_ctx_train: 131_072 })),
      "GET root /props": llamaProps(8192),
    });
    const [only] = modelsOf(await llamacpp.discover(server.query));
    expect(only).toMatchObject({ names: ["m"], window: 8192, source: "loaded", trained: 131_072, anyName: true });
  });

  test("B15: a router's models each have their own; what /props says of the router is never theirs", async () => {
    const server = answering({
      "GET v1 /models": list(
        llamaRouted("a", "loaded", { n_ctx: 65_536, n_ctx_train: 131_072 }),
        llamaRouted("b", "loaded", { n_ctx: 8192, n_ctx_train: 131_072 }),
      ),
      "GET root /props": llamaRouterProps,
    });
    const found = await llamacpp.discover(server.query);
    expect([windowFor(found, "a"), windowFor(found, "b")]).toEqual([65_536, 8192]);
    expect(modelsOf(found).map((model) => model.anyName)).toEqual([false, false]);
  });

  test("B15: two models without a router's status are told apart too", async () => {
    const server = answering({
      "GET v1 /models": list(llamaModel("a", { n_ctx: 65_536 }), llamaModel("b", { n_ctx: 8192 })),
      "GET root /props": llamaProps(0),
    });
    const found = await llamacpp.discover(server.query);
    expect([windowFor(found, "a"), windowFor(found, "b")]).toEqual([65_536, 8192]);
  });

  test("B15: 0 is unknown, never a window", async () => {
    const server = answering({
      "GET v1 /models": list(llamaModel("m", { n_ctx: 0, n_ctx_train: 0 })),
      "GET root /props": llamaRouterProps,
    });
    expect(modelsOf(await llamacpp.discover(server.query))[0]).toMatchObject({ window: null, trained: null });
  });

  test("B14: a router's unloaded model: its `context_length` is the trained one", async () => {
    const server = answering({ "GET v1 /models": list(llamaRouted("b", "unloaded", null, ["bee"])) });
    const [model] = modelsOf(await llamacpp.discover(server.query));
    expect(model).toMatchObject({
      names: ["b", "bee"],
      window: null,
      trained: 4096,
      provisional: true,
      anyName: false,
    });
    // Asking for more would load it.
    const asked = answering({});
    expect(await llamacpp.inspect?.(asked.query, "b", model ?? null)).toBeNull();
    expect(asked.asked).toEqual([]);
  });

  test("a router's loaded model whose list entry has no size is asked by name, without loading anything", async () => {
    const server = answering({
      "GET v1 /models": list(llamaRouted("acme/a", "loaded", { n_ctx_train: 4096 }), llamaRouted("b", "loaded", null)),
      "GET root /props?model=acme%2Fa&autoload=false": llamaProps(1024),
    });
    const listed = modelsOf(await llamacpp.discover(server.query))[0] ?? null;
    expect(listed).toMatchObject({ window: null, provisional: false });
    expect(await llamacpp.inspect?.(server.query, "acme/a", listed)).toMatchObject({ window: 1024, source: "loaded" });
    expect(await llamacpp.inspect?.(server.query, "nobody", null)).toBeNull();
  });

  test("no list", async () => {
    expect(await llamacpp.discover(answering({}, () => 401).query)).toEqual({ refused: 401 });
    expect(await llamacpp.discover(answering({}, () => 503).query)).toBeNull();
    expect(await llamacpp.discover(answering({}).query)).toBeNull();
  });
});

describe("counting", () => {
  const body = { model: "m", messages: [{ role: "user", content: "hi" }], tools: [{ type: "function" }] };

  test.each([
    ["chat", "POST v1 /chat/completions/input_tokens"],
    ["responses", "POST v1 /responses/input_tokens"],
    ["messages", "POST v1 /messages/count_tokens"],
  ] as const)("%s has a counter that takes the request as it is", async (wire, at) => {
    const server = answering({ [at]: { object: "response.input_tokens", input_tokens: 120 } });
    expect(await llamacpp.count?.(server.query, ask(wire), body)).toBe(120);
    expect(server.asked).toEqual([{ at, body }]);
  });

  test("an older build renders and tokenizes", async () => {
    const server = answering(
      { "POST root /apply-template": { prompt: "<|im_start|>user\nhi" }, "POST root /tokenize": { tokens: [1, 2, 3] } },
      () => 404,
    );
    expect(await llamacpp.count?.(server.query, ask("chat"), body)).toBe(3);
    expect(server.asked.map(({ at }) => at)).toEqual([
      "POST v1 /chat/completions/input_tokens",
      "POST root /apply-template",
      "POST root /tokenize",
    ]);
    expect(server.asked[2]?.body).toEqual({
      model: "m",
      content: "<|im_start|>user\nhi",
      add_special: true,
      parse_special: true,
    });
    expect(await llamacpp.count?.(answering({}, () => 404).query, ask("responses"), {})).toBeNull();
    expect(await llamacpp.count?.(answering({}, () => 404).query, ask("chat"), {})).toBeNull();
  });

  test("a prompt is tokenized as it is, the longest of several counts, and tokens are counted here", async () => {
    const server = answering({
      "POST root /tokenize": (sent: { content: string }) => ({ tokens: [...sent.content].map(() => 1) }),
    });
    const count = (prompt: string | number[] | (string | number[])[]) =>
      llamacpp.count?.(server.query, ask("completions"), { prompt });
    expect(await count("abc")).toBe(3);
    expect(await count("")).toBe(0);
    expect(await count(["a", "abcd", "ab"])).toBe(4);
    expect(server.asked).toHaveLength(5);
    expect(await count([7, 8, 9])).toBe(3);
    expect(await count([[1, 2], [3]])).toBe(2);
    expect(server.asked).toHaveLength(5);
    expect(await llamacpp.count?.(answering({}).query, ask("completions"), { prompt: ["a", "b"] })).toBeNull();
  });
});

describe("rendering", () => {
  const render = (prompt: unknown) =>
    llamacpp.render?.(answering({ "POST root /apply-template": { prompt } }).query, {});

  test("ends where the assistant's text begins", async () => {
    expect(await render("<|im_start|>assistant\n")).toBe("<|im_start|>assistant\n");
  });

  test("a thought that the template opens is closed: what follows is text", async () => {
    expect(await render("<|im_start|>assistant\n<think>\n")).toBe("<|im_start|>assistant\n<think>\n\n</think>\n\n");
  });

  test("cannot be asked", async () => {
    expect(await render(undefined)).toBeNull();
    expect(await llamacpp.render?.(answering({}).query, {})).toBeNull();
  });
});

describe("requests", () => {
  test("resumes with the flag pair that was measured to be exact on every wire, thoughts included", () => {
    for (const wire of ["chat", "responses", "messages"] as const)
      expect(llamacpp.resume(wire, "m", ask(wire))).toEqual({
        set: { continue_final_message: true, add_generation_prompt: false },
        setThought: { continue_final_message: true, add_generation_prompt: false },
        mark: {},
        trimsTail: false,
        echo: "plain",
        thoughts: true,
        sure: true,
      });
    expect(llamacpp.resume("completions", "m", ask("completions"))).toMatchObject({
      set: {},
      echo: "never",
      sure: true,
    });
  });

  test("edge 98: every field is a cap on every wire, but on Messages only its own", () => {
    for (const field of ["max_tokens", "max_completion_tokens", "n_predict"])
      expect(llamacpp.capField("chat", field, "m")).toBe(field);
    expect(llamacpp.capField("messages", "n_predict", "m")).toBe("max_tokens");
  });

  test("B99: calls cut replies finished on Responses", () => {
    expect(llamacpp.hidesCuts).toEqual(["responses"]);
  });

  test("thinking is ended by a budget, on each wire by its own", () => {
    expect(llamacpp.effort("chat", "m", {}, "off")).toEqual({
      reasoning_budget_tokens: 0,
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(llamacpp.effort("messages", "m", {}, "off")).toEqual({ thinking: { type: "enabled", budget_tokens: 0 } });
    expect(llamacpp.effort("chat", "m", {}, "lower")).toEqual({
      reasoning_budget_tokens: 1024,
      chat_template_kwargs: { reasoning_effort: "low" },
    });
    expect(llamacpp.effort("chat", "m", { chat_template_kwargs: { reasoning_effort: "low" } }, "lower")).toBeNull();
  });

  test("the fix", () => {
    expect(llamacpp.widen("m")).toBe("llama-server -m m -c 32768 -np 1");
  });
});
