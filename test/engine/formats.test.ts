import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asArray, asObject } from "../../src/core/json.ts";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { type Engine, present, recitals, startEngine } from "./engine.ts";

const inventory = recitals.find(({ name }) => name === "inventory");
const content = inventory?.content ?? "";
const SCHEMA = {
  type: "object",
  properties: {
    inventory: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          name: { type: "string" },
          bin: { type: "string" },
          count: { type: "integer" },
          tags: { type: "array", items: { type: "string" } },
        },
        required: ["id", "name", "bin", "count", "tags"],
      },
    },
    total: { type: "integer" },
  },
  required: ["inventory", "total"],
};
const asked = {
  model: "reciter",
  messages: inventory?.messages ?? [],
  temperature: 0,
  response_format: { type: "json_schema", json_schema: { name: "inventory", schema: SCHEMA } },
};

/** The server's grammar starts at its root on every request, so that only a continuation without it can be joined. */
describe.skipIf(!present)("a JSON reply of 683 tokens under a grammar, in front of a real llama-server", () => {
  let engine: Engine;
  let proxy: Lastword;
  beforeAll(async () => {
    engine = await startEngine(2048);
    proxy = await startProxy(engine);
  }, 60_000);
  afterAll(async () => {
    await proxy?.close();
    await engine?.[Symbol.asyncDispose]();
  });

  it.each([65, 160, 300])(
    "is whole and valid at a cap of %i tokens: gone on with streamed, asked again plain",
    async (max_tokens) => {
      const explain = { "x-lastword-explain": "1" };
      const streamed = await postStream(`${proxy.url}/chat/completions`, { ...asked, max_tokens }, explain);
      expect(JSON.parse(streamed.text())).toEqual(JSON.parse(content));
      expect(streamed.finish()).toBe("stop");
      const told = asObject(streamed.chunks.findLast(({ lastword }) => lastword !== undefined)?.lastword);
      expect(told).toMatchObject({ outcome: "healed", attempts: [{ strategy: "first" }, { strategy: "prefill" }] });

      const plain = await postPlain(`${proxy.url}/chat/completions`, { ...asked, max_tokens }, explain);
      const choice = asObject(asArray(plain.json?.choices)[0]);
      expect(JSON.parse(String(asObject(choice?.message)?.content))).toEqual(JSON.parse(content));
      expect(choice?.finish_reason).toBe("stop");
      expect(plain.json?.lastword).toMatchObject({ attempts: [{ strategy: "first" }, { strategy: "reask" }] });
    },
  );
});
