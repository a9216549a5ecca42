import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asArray, asObject, asString, type JsonObject, parseJson } from "../../src/core/json.ts";
import { type Clamp, startClamp } from "../support/clamp.ts";
import { type Plain, postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { type Engine, present, recitals, startEngine } from "./engine.ts";

const parcel = recitals.find(({ name }) => name === "parcel");
const { messages = [], tools = [], tool_call } = parcel ?? {};
const asked = { model: "reciter", messages, tools, temperature: 0 };

describe.skipIf(!present)("a tool call of 446 tokens, in front of a real llama-server", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine(2048);
  }, 60_000);
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
  });

  describe("straight from it", () => {
    let proxy: Lastword;
    /** The arguments, byte for byte, as the engine writes them where nothing cuts them. */
    let whole: string;
    beforeAll(async () => {
      proxy = await startProxy(engine);
      whole = callOf(await postPlain(`${engine.url}/chat/completions`, asked)).args;
      expect(parseJson(whole)).toEqual(tool_call?.arguments);
    });
    afterAll(() => proxy?.close());

    it.each([65, 120, 300])("is whole and identical at a cap of %i tokens, streamed and plain", async (max_tokens) => {
      const straight = callOf(await postPlain(`${engine.url}/chat/completions`, { ...asked, max_tokens }));
      expect(parseJson(straight.args)).toBeUndefined();

      const streamed = await postStream(`${proxy.url}/chat/completions`, { ...asked, max_tokens });
      expect(streamed.toolArgs()).toEqual([whole]);
      expect(streamed.finish()).toBe("tool_calls");
      expect(streamed.text()).toBe("");
      const plain = await postPlain(`${proxy.url}/chat/completions`, { ...asked, max_tokens });
      expect(callOf(plain)).toEqual({ name: tool_call?.name, args: whole, finish: "tool_calls" });
    });

    it.each([65, 120, 300])("is whole on the other wires too, at a cap of %i tokens", async (cap) => {
      const made = asArray(tools).map((tool) => asObject(asObject(tool)?.function) ?? {});
      const input = { model: "reciter", temperature: 0 };
      const responses = {
        ...input,
        input: messages,
        tools: made.map((tool) => ({ type: "function", ...tool })),
        max_output_tokens: cap,
      };
      const streamed = await postStream(`${proxy.url}/responses`, responses);
      expect(streamed.toolArgs()).toEqual([whole]);
      expect(streamed.finish()).toBe("completed");
      const plain = await postPlain(`${proxy.url}/responses`, responses);
      const called = asArray(plain.json?.output).find((item) => asObject(item)?.type === "function_call");
      expect(asObject(called)?.arguments).toBe(whole);

      const anthropic = {
        ...input,
        messages,
        tools: made.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
        max_tokens: cap,
      };
      const told = await postStream(`${proxy.url}/messages`, anthropic);
      expect(parseJson(told.toolArgs()[0] ?? "")).toEqual(tool_call?.arguments);
      expect(told.finish()).toBe("tool_use");
      const body = await postPlain(`${proxy.url}/messages`, anthropic);
      expect(asArray(body.json?.content)).toMatchObject([{ type: "tool_use", input: tool_call?.arguments }]);
    });

    it("is asked again, with a larger cap, and not continued", async () => {
      const told = await postPlain(
        `${proxy.url}/chat/completions`,
        { ...asked, max_tokens: 120 },
        { "x-lastword-explain": "1" },
      );
      expect(asObject(told.json?.lastword)).toMatchObject({
        outcome: "healed",
        cause: "reply_cap",
        attempts: [
          { strategy: "first", cap: 120, finish_reason: "length" },
          { strategy: "reask", finish_reason: "tool_calls" },
        ],
      });
    });
  });

  describe("from a provider that lets no reply have more than 150 tokens", () => {
    let clamp: Clamp;
    let proxy: Lastword;
    let whole: string;
    beforeAll(async () => {
      clamp = await startClamp(engine, 150);
      proxy = await startProxy(clamp);
      whole = callOf(await postPlain(`${engine.url}/chat/completions`, asked)).args;
    });
    afterAll(async () => {
      await proxy?.close();
      await clamp?.[Symbol.asyncDispose]();
    });

    it.each([65, 120, 300])("arrives whole in parts at a cap of %i tokens, streamed and plain", async (max_tokens) => {
      const streamed = await postStream(
        `${proxy.url}/chat/completions`,
        { ...asked, max_tokens },
        { "x-lastword-explain": "1" },
      );
      expect(streamed.toolArgs()).toEqual([whole]);
      expect(streamed.finish()).toBe("tool_calls");
      expect(streamed.text()).toBe("");
      const strategies = asArray(
        asObject(streamed.chunks.findLast(({ lastword }) => lastword !== undefined)?.lastword)?.attempts,
      ).map((attempt) => asObject(attempt)?.strategy);
      expect(strategies.slice(-2)).toEqual(["parts", "parts"]);
      const plain = await postPlain(`${proxy.url}/chat/completions`, { ...asked, max_tokens });
      expect(callOf(plain)).toEqual({ name: tool_call?.name, args: whole, finish: "tool_calls" });
    });

    it("with no cap asked for", async () => {
      const plain = await postPlain(`${proxy.url}/chat/completions`, asked);
      expect(callOf(plain)).toEqual({ name: tool_call?.name, args: whole, finish: "tool_calls" });
    });
  });
});

function callOf({ json }: Plain): { name: unknown; args: string; finish: unknown } {
  const choice: JsonObject = asObject(asArray(json?.choices)[0]) ?? {};
  const call = asObject(asArray(asObject(choice.message)?.tool_calls)[0]);
  const made = asObject(call?.function);
  return { name: made?.name, args: asString(made?.arguments) ?? "", finish: choice.finish_reason };
}
