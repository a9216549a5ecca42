import { describe, expect, it } from "vitest";
import { asNumber, asObject, type JsonObject } from "../../src/core/json.ts";
import { type Call, done, finish, say, status, tool, usage } from "../support/upstream.ts";
import { ask, asking, capped, cut, stage, whole } from "./stage.ts";

const capOf = (call: Call | undefined) => asNumber(call?.body.max_tokens) ?? null;
const messageOf = (json: JsonObject | undefined) => String(asObject(json?.error)?.message);

describe("clamping, and where the window comes from", () => {
  it("B9: a prompt longer than the window is told as that, not as a cap below one", async () => {
    const { up, plain } = await stage({ dialect: "vllm", window: 4096 });
    const got = await plain(asking(4282, { max_tokens: 1000 }));
    expect(got.status).toBe(400);
    expect(messageOf(got.json)).toContain("4096");
    expect(messageOf(got.json)).toContain("4282");
    expect(up.calls).toHaveLength(0);
  });

  it("B10: room for a few tokens is no room, but a cap of one is a cap", async () => {
    const { up, plain } = await stage({ dialect: "vllm", window: 4096 });
    up.handle(() => whole("I"));
    expect((await plain(asking(4090, { max_tokens: 1000 }))).status).toBe(400);
    expect(up.calls).toHaveLength(0);
    expect((await plain(asking(3800, { max_tokens: 1000 }))).status).toBe(200);
    expect(capOf(up.calls[0])).toBe(296);
    expect((await plain(asking(4090, { max_tokens: 1 }))).status).toBe(200);
    expect(capOf(up.calls[1])).toBe(1);
  });

  it("B11: at the window, every prompt is served with the least reply or refused in the same words", async () => {
    const { up, plain } = await stage({ dialect: "vllm", window: 4096 });
    up.handle(() => whole("ok"));
    const served = await plain(asking(4096 - 256, { max_tokens: 1000 }));
    expect(served.status).toBe(200);
    expect(capOf(up.calls[0])).toBe(256);
    for (const tokens of [4096 - 255, 4095, 4096, 4097]) {
      const got = await plain(asking(tokens, { max_tokens: 1000 }));
      expect(got.json).toMatchObject({ error: { type: "invalid_request_error", code: "context_length_exceeded" } });
      expect(messageOf(got.json)).toMatch(/^This model's maximum context length is 4096 tokens/);
    }
    expect(up.calls).toHaveLength(1);
  });

  describe("B12: caps that make no sense", () => {
    it.each(["4096", true, 0.5, 0, -500])("B12: %j is refused here, naming the field", async (max_tokens) => {
      const { up, plain } = await stage({ dialect: "lmstudio", window: 4096 });
      const got = await plain({ ...ask, max_tokens });
      expect(got.status).toBe(400);
      expect(got.json).toMatchObject({ error: { type: "invalid_request_error", param: "max_tokens" } });
      expect(up.calls).toHaveLength(0);
    });

    it("B12: null and -1 are no cap, 4096.0 is one, and 1e9 is lowered", async () => {
      const { up, plain } = await stage({ dialect: "lmstudio", window: 8192 });
      up.handle(() => whole("ok"));
      for (const value of ["null", "-1", "4096.0", "1e9"]) {
        const body = JSON.stringify(ask).replace("{", `{"max_tokens":${value},`);
        expect((await plain(body)).status).toBe(200);
      }
      expect(up.calls.map(capOf).slice(0, 3)).toEqual([null, -1, 4096]);
      expect(capOf(up.calls[3])).toBeLessThanOrEqual(8192);
    });
  });

  it("B13: the loaded window counts, not what the model was trained for", async () => {
    const models = [{ id: "qwen/qwen3-8b", trained: 262_144 }];
    const { up, plain } = await stage({ dialect: "lmstudio", window: 8192, models, native: "v0" });
    const qwen = { model: "qwen/qwen3-8b" };
    up.handle(() => whole("ok"));
    const refused = await plain(asking(9000, qwen));
    expect(refused.status).toBe(400);
    expect(messageOf(refused.json)).toContain("8192");
    expect(up.calls).toHaveLength(0);
    expect((await plain(asking(5500, { ...qwen, max_tokens: 4000 }))).status).toBe(200);
    expect(capOf(up.calls[0])).toBeLessThanOrEqual(8192 - 5500);
  });

  it("B14: a window that came with loading the model counts from the next request on", async () => {
    let loaded = false;
    const { up, plain } = await stage({ dialect: "lmstudio", window: 262_144, native: "v0" });
    up.on("GET /api/v0/models", () => {
      const state = loaded ? { state: "loaded", loaded_context_length: 4096 } : { state: "not-loaded" };
      return { json: { object: "list", data: [{ id: "m", type: "llm", max_context_length: 262_144, ...state }] } };
    });
    up.handle(() => {
      loaded = true;
      return whole("hi");
    });
    const first = await plain(asking(6000, { max_tokens: 2000 }));
    expect(first.status).toBe(200);
    expect(first.headers["x-lastword-window-source"]).toBe("trained");
    const second = await plain(asking(6000, { max_tokens: 2000 }));
    expect(second.status).toBe(400);
    expect(messageOf(second.json)).toContain("4096");
    expect(up.calls).toHaveLength(1);
  });

  it("B15: each model of a router has its own window, 0 is none, and a restart is noticed when what was listed is no longer believed", async () => {
    const budget = { windowTtlSeconds: 0.001 };
    const { up, plain } = await stage({ dialect: "llamacpp", models: ["a", "b"], counts: "none" }, { budget });
    let windows = { a: 65_536, b: 8192 };
    const status = { value: "loaded" };
    up.on("GET /props", () => ({ json: { default_generation_settings: { n_ctx: 0 }, total_slots: 1 } }));
    up.on("GET /v1/models", () => ({
      json: {
        data: Object.entries(windows).map(([id, n_ctx]) => ({ id, owned_by: "llamacpp", status, meta: { n_ctx } })),
      },
    }));
    up.handle(() => whole("ok"));
    const long = (model: string) => plain({ ...asking(20_000), model });
    expect((await long("a")).status).toBe(200);
    const refused = await long("b");
    expect(refused.status).toBe(400);
    expect(messageOf(refused.json)).toContain("8192");
    windows = { a: 4096, b: 8192 };
    const after = await long("a");
    expect(after.status).toBe(400);
    expect(messageOf(after.json)).toContain("4096");
  });

  it("B16: the loaded instance's own size counts, of two the smaller where the request does not say which", async () => {
    for (const [sizes, window] of [
      [[40_000], "40000"],
      [[40_000, 16_000], "16000"],
    ] as const) {
      const { up, plain } = await stage({ dialect: "lmstudio", window: 40_000 });
      const loaded_instances = sizes.map((context_length, at) => ({ id: `m:${at + 1}`, config: { context_length } }));
      up.on("GET /api/v1/models", () => ({
        json: { models: [{ type: "llm", key: "m", loaded_instances, max_context_length: 183_296 }] },
      }));
      up.on("GET /api/v0/models", () => ({
        json: { data: [{ id: "m", type: "llm", state: "loaded", max_context_length: 183_296 }] },
      }));
      up.next(...whole("ok"));
      const got = await plain();
      expect(got.headers["x-lastword-window"]).toBe(window);
      expect(got.headers["x-lastword-window-source"]).toBe("loaded");
    }
  });

  describe("B17: a window that the endpoint does not take from the request", () => {
    const models = [{ id: "m", trained: 262_144 }];

    it("B17: what runs is asked, the cap is lowered to it, and a full window is not gone on with", async () => {
      const { up, stream, proxy } = await stage({ dialect: "ollama", window: 4096, models });
      up.handle((call) => [say("and so"), finish("length"), usage(193, capOf(call) ?? 0), done()]);
      const got = await stream(asking(193, { max_tokens: 8000 }));
      expect(got.headers["x-lastword-window"]).toBe("4096");
      expect(capOf(up.calls[0])).toBeLessThanOrEqual(3903);
      expect(got.finish()).toBe("length");
      expect(up.calls.length).toBeLessThanOrEqual(1);
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "context_full" });
    });

    it("B17: where what runs cannot be asked, a reply that ends far below its cap tells the window", async () => {
      const { up, stream, proxy } = await stage({ dialect: "ollama", window: null, models });
      up.on("GET /api/ps", () => ({ status: 404, text: "404 page not found" }));
      up.next(say("and so"), finish("length"), usage(193, 3903), done());
      const got = await stream(asking(193, { max_tokens: 8000 }));
      expect(got.finish()).toBe("length");
      expect(up.calls).toHaveLength(1);
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "context_full" });
    });
  });

  describe("B18: the name of the cap", () => {
    it("B18: a lowered cap stays in the client's field", async () => {
      const { up, plain } = await stage({ dialect: "vllm", window: 4096 });
      up.next(...whole("ok"));
      await plain({ ...ask, max_completion_tokens: 9000 });
      expect(up.calls[0]?.body.max_completion_tokens).toBeLessThanOrEqual(4096);
      expect(up.calls[0]?.body).not.toHaveProperty("max_tokens");
    });

    it("B18: where another field is wanted it is renamed once, and that is remembered", async () => {
      const { up, plain } = await stage({ dialect: "generic", window: 32_768 });
      up.handle((call) => {
        if (capOf(call) === null) return whole("ok");
        const message =
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        return [
          status(400, {
            error: { message, type: "invalid_request_error", param: "max_tokens", code: "unsupported_parameter" },
          }),
        ];
      });
      for (const calls of [2, 3]) {
        expect((await plain({ ...ask, max_tokens: 9000 })).status).toBe(200);
        expect(up.calls).toHaveLength(calls);
        expect(up.calls.at(-1)?.body).toMatchObject({ max_completion_tokens: 9000 });
        expect(up.calls.at(-1)?.body).not.toHaveProperty("max_tokens");
      }
    });

    it("B18: of two different caps the smaller is sent, alone", async () => {
      const { up, plain } = await stage({ dialect: "vllm", window: 32_768 });
      up.next(...whole("ok"));
      await plain({ ...ask, max_tokens: 500, max_completion_tokens: 400 });
      expect(up.calls[0]?.body).toMatchObject({ max_completion_tokens: 400 });
      expect(up.calls[0]?.body).not.toHaveProperty("max_tokens");
    });
  });

  describe("B19: an attempt with a cap that is no larger", () => {
    const tools = [{ type: "function", function: { name: "write", parameters: { type: "object" } } }];
    const half = [tool(0, { id: "t", name: "write" }, '{"text":"a'), finish("length"), usage(1000, 3000), done()];

    it("B19: is not made for a few tokens more", async () => {
      const { up, plain } = await stage({ dialect: "vllm", window: 4096 });
      up.handle(() => half);
      const got = await plain(asking(1070, { max_tokens: 3000, tools }));
      const same = up.calls.filter(
        (call) => JSON.stringify(call.body.messages) === JSON.stringify(up.calls[0]?.body.messages),
      );
      expect(same).toHaveLength(1);
      expect(JSON.stringify(got.json)).toContain('"finish_reason":"length"');
      expect(JSON.stringify(got.json)).not.toContain("tool_calls");
    });

    it("B19: with room it is strictly larger", async () => {
      const { up, plain } = await stage({ dialect: "generic", window: 32_768 });
      const rest = [
        tool(0, { id: "u", name: "write" }, '{"text":"a"}'),
        finish("tool_calls"),
        usage(1000, 3500),
        done(),
      ];
      up.next(...half);
      up.next(...rest);
      const got = await plain(asking(1000, { max_tokens: 3000, tools }));
      expect(up.calls).toHaveLength(2);
      expect(capOf(up.calls[1])).toBeGreaterThan(3000);
      expect(JSON.stringify(got.json)).toContain('"finish_reason":"tool_calls"');
    });
  });

  it("B20: a cap that the client did set is exactly its limit where it is strict", async () => {
    const { up, plain, proxy } = await stage({ dialect: "vllm", window: 32_768 }, { recovery: { caps: "strict" } });
    up.next(...cut("half an answ", 20, 100));
    const got = await plain(capped);
    expect(JSON.stringify(got.json)).toContain('"finish_reason":"length"');
    expect(up.calls).toHaveLength(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "honoured_cap" });
  });
});
