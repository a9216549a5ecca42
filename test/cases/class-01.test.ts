import { describe, expect, it } from "vitest";
import { asNumber, asObject } from "../../src/core/json.ts";
import { type Call, overflow, pause, type Script, status } from "../support/upstream.ts";
import { ask, asking, stage, whole } from "./stage.ts";

const capOf = (call: Call | undefined) => asNumber(call?.body.max_tokens) ?? 0;

describe("prompt and cap over the window", () => {
  it("B1: a fixed cap of 32000 against a window of 32768 is lowered to the room, and so is told", async () => {
    const { up, stream, metrics } = await stage({ dialect: "vllm", window: 32_768 });
    up.handle((call) =>
      capOf(call) > 32_768 - 17_459 ? overflow.vllm.tooLarge(17_459, 32_768, capOf(call)) : whole("ok"),
    );
    const got = await stream(asking(17_459, { max_tokens: 32_000 }));
    expect(got.status).toBe(200);
    expect(got.finish()).toBe("stop");
    expect(up.calls).toHaveLength(1);
    expect(capOf(up.calls[0])).toBeLessThanOrEqual(32_768 - 17_459);
    expect(capOf(up.calls[0])).toBeGreaterThanOrEqual(256);
    expect(got.headers["x-lastword-cap"]).toBe(`asked=32000;sent=${capOf(up.calls[0])};reason=room`);
    expect(await metrics()).toContain('lastword_clamped_total{model="m"} 1');
  });

  it.each([
    ["by its data", overflow.lmstudio.D(31_430, 30_000)],
    ["with the sentence beside it", overflow.lmstudio.D(31_430, 30_000)],
  ])(
    "B2: a 200 whose only event is an error is an HTTP 400 with both numbers, not repeated, %s",
    async (_name, script) => {
      const { up, stream } = await stage({ dialect: "lmstudio", window: 131_072 });
      up.next(...script);
      const got = await stream();
      expect(got.status).toBe(400);
      expect(got.bytes.toString()).toContain("context_length_exceeded");
      expect(got.bytes.toString()).toMatch(/31430/);
      expect(got.bytes.toString()).toMatch(/30000/);
      expect(up.calls).toHaveLength(1);
    },
  );

  it.each([
    ["as data", overflow.llamacpp.inStream(24_071, 8192)],
    ["as a field that SSE does not know", overflow.llamacpp.errorLine(24_071, 8192)],
  ])("B3: a 400 inside of a 200 stream, %s, is an HTTP 400 with both numbers", async (_name, script) => {
    const { up, stream } = await stage({ dialect: "llamacpp", window: null });
    up.next(...script);
    const got = await stream();
    expect(got.status).toBe(400);
    expect(got.bytes.toString()).toContain("context_length_exceeded");
    expect(got.bytes.toString()).toMatch(/24071/);
    expect(got.bytes.toString()).toMatch(/8192/);
  });

  it.each([
    ["n_keep >= n_ctx", overflow.lmstudio.B(15_028, 7424), [15_028, 7424]],
    ["tokens to keep", overflow.lmstudio.C(13_055, 4096), [13_055, 4096]],
  ])(
    "B4: an error that is a bare string is told as an object, with both numbers: %s",
    async (_name, script, numbers) => {
      const { up, plain } = await stage({ dialect: "lmstudio", window: null });
      up.next(...script);
      const got = await plain();
      expect(got.status).toBe(400);
      expect(got.json).toMatchObject({ error: { type: "invalid_request_error", code: "context_length_exceeded" } });
      for (const number of numbers) expect(String(asObject(got.json?.error)?.message)).toContain(String(number));
      expect(up.calls).toHaveLength(1);
    },
  );

  describe("B5: a catalogue whose output limit is the window", () => {
    const models = [{ id: "m", window: 131_072, maxOutput: 131_072 }];
    const limited =
      (real: number) =>
      (call: Call): Script =>
        capOf(call) + real > 131_072 ? overflow.openrouter.own(real, 131_072, capOf(call)) : whole("ok");

    it("B5: is never sent as the cap", async () => {
      const { up, plain } = await stage({ dialect: "openrouter", window: 131_072, models });
      up.handle(limited(7884));
      const got = await plain(asking(7884, { max_tokens: 131_072 }));
      expect(got.status).toBe(200);
      expect(up.calls).toHaveLength(1);
      expect(capOf(up.calls[0])).toBeLessThanOrEqual(131_072 - 7884);
    });

    it("B5: where the count was too low, one more try by the server's own numbers, and no further", async () => {
      const { up, plain } = await stage({ dialect: "openrouter", window: 131_072, models });
      up.handle(limited(60_000));
      const got = await plain(asking(7884, { max_tokens: 131_072 }));
      expect(got.status).toBe(200);
      expect(up.calls).toHaveLength(2);
      expect(capOf(up.calls[1])).toBeLessThanOrEqual(131_072 - 60_000);
    });

    it("B5: a server that refuses that too is not asked a third time", async () => {
      const { up, plain } = await stage({ dialect: "openrouter", window: 131_072, models });
      up.handle((call) => overflow.openrouter.own(60_000, 131_072, capOf(call)));
      const got = await plain(asking(7884, { max_tokens: 131_072 }));
      expect(got.status).toBe(400);
      expect(got.json).toMatchObject({ error: { code: "context_length_exceeded" } });
      expect(up.calls.length).toBeLessThanOrEqual(2);
    });
  });

  it("B6: an error that names a window of 3 tokens is not believed, not now and not later", async () => {
    const { up, plain } = await stage({ dialect: "vllm", window: 2048 });
    const nonsense = "This model's maximum context length is 3 tokens. However, your request has 8 input tokens.";
    up.next(status(400, { error: { message: nonsense, type: "BadRequestError", param: null, code: 400 } }));
    const first = await plain({ ...ask, max_tokens: 2000 });
    expect(first.status).toBe(400);
    up.next(...whole("ok"));
    const second = await plain(asking(100, { max_tokens: 500 }));
    expect(second.status).toBe(200);
    expect(second.headers["x-lastword-window"]).toBe("2048");
    expect(capOf(up.calls.at(-1))).toBe(500);
  });

  it.each([400, 500])("B7: a permanent overflow told as %i is asked once, and hinders nobody else", async (code) => {
    const { up, proxy, plain, stream, metrics } = await stage({ dialect: "generic", window: null });
    const message = "Requested token count exceeds maximum context length of 16384 (1580 input + 16384 completion)";
    up.next(pause("small"), ...whole("small"));
    const other = stream(ask);
    await up.reached("small");
    up.next(status(code, { error: { message, type: "BadRequest" } }));
    const got = await plain(ask);
    expect(got.status).toBe(400);
    expect(got.json).toMatchObject({ error: { type: "invalid_request_error", code: "context_length_exceeded" } });
    expect(up.calls).toHaveLength(2);
    up.release("small");
    expect((await other).text()).toBe("small");
    await proxy.finished(2);
    expect(await metrics()).toContain('lastword_rejected_total{model="m",reason="context_length_exceeded"} 1');
  });

  it("B8: a tool's result that is over the window never reaches the model", async () => {
    const { up, plain } = await stage({ dialect: "vllm", window: 4096 });
    const called = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } };
    const got = await plain({
      model: "m",
      messages: [
        { role: "user", content: "read it" },
        { role: "assistant", content: null, tool_calls: [called] },
        { role: "tool", tool_call_id: "c1", content: "word ".repeat(12_000) },
      ],
    });
    expect(got.status).toBe(400);
    expect(got.json).toMatchObject({ error: { code: "context_length_exceeded" } });
    expect(String(asObject(got.json?.error)?.message)).toMatch(/4096/);
    expect(String(asObject(got.json?.error)?.message)).toMatch(/1[12]\d{3}/);
    expect(up.calls).toHaveLength(0);
  });
});
