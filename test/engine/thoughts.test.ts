import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { asArray, asObject, asString, type JsonObject } from "../../src/core/json.ts";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import { type Engine, present, recitals, startEngine } from "./engine.ts";

const lamp = recitals.find(({ name }) => name === "lamp");
const asked = { model: "reciter", messages: lamp?.messages ?? [], temperature: 0 };
const answer = lamp?.content ?? "";
const thought = lamp?.reasoning_content ?? "";

describe.skipIf(!present)("a thought of about 470 tokens, in front of a real llama-server", () => {
  let engine: Engine;
  let proxy: Lastword;
  beforeAll(async () => {
    engine = await startEngine(2048);
  }, 60_000);
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
  });
  const start = async (options: ProxyOptions) => {
    proxy = await startProxy(engine, options);
  };
  afterEach(() => proxy?.close());

  const settings: [string, ProxyOptions][] = [
    ["as it is set up by default", {}],
    ["without an allowance for reasoning", { budget: { reasoningAllowanceTokens: 0 } }],
    [
      "resumed on the completion endpoint",
      { budget: { reasoningAllowanceTokens: 0 }, models: [{ match: "*", upstream: "up", continue: "raw" }] },
    ],
  ];
  for (const [name, options] of settings) {
    it.each([65, 200])(`${name}, ends with its answer at a cap of %i tokens`, async (max_tokens) => {
      await start(options);
      const streamed = await postStream(`${proxy.url}/chat/completions`, { ...asked, max_tokens });
      expect(streamed.text()).toBe(answer);
      expect(streamed.finish()).toBe("stop");
      expect(streamed.reasoning().trim()).toBe(thought);
      const plain = await postPlain(`${proxy.url}/chat/completions`, { ...asked, max_tokens });
      const choice: JsonObject = asObject(asArray(plain.json?.choices)[0]) ?? {};
      expect(choice.finish_reason).toBe("stop");
      expect(asObject(choice.message)?.content).toBe(answer);
      expect(asString(asObject(choice.message)?.reasoning_content)?.trim()).toBe(thought);
    });
  }

  it.each([65, 200])("ends with its answer on the other wires too, at a cap of %i tokens", async (cap) => {
    await start({ budget: { reasoningAllowanceTokens: 0 } });
    const input = { model: "reciter", temperature: 0 };
    const responses = { ...input, input: asked.messages, max_output_tokens: cap };
    const streamed = await postStream(`${proxy.url}/responses`, responses);
    expect(streamed.text()).toBe(answer);
    expect(streamed.reasoning().trim()).toBe(thought);
    expect(streamed.finish()).toBe("completed");
    const anthropic = { ...input, messages: asked.messages, max_tokens: cap };
    const told = await postStream(`${proxy.url}/messages`, anthropic);
    expect(told.text()).toBe(answer);
    expect(told.reasoning().trim()).toBe(thought);
    expect(told.finish()).toBe("end_turn");
    const body = await postPlain(`${proxy.url}/messages`, anthropic);
    expect(asArray(body.json?.content).at(-1)).toMatchObject({ type: "text", text: answer });
  });

  it("is gone on with inside of it, and not thought anew", async () => {
    await start({ budget: { reasoningAllowanceTokens: 0 } });
    const told = await postPlain(
      `${proxy.url}/chat/completions`,
      { ...asked, max_tokens: 200 },
      { "x-lastword-explain": "1" },
    );
    expect(told.json?.lastword).toMatchObject({
      outcome: "healed",
      cause: "reasoning_starved",
      attempts: [
        { strategy: "first", cap: 200, completion_tokens: 200 },
        { strategy: "prefill", finish_reason: "stop" },
      ],
    });
    expect(told.json?.usage).toMatchObject({ completion_tokens: expect.any(Number) });
  });
});
