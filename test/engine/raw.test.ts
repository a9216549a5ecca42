import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asArray, asObject } from "../../src/core/json.ts";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { type Engine, present, recitals, startEngine } from "./engine.ts";

const texts = recitals.filter(({ name }) => ["declaration", "song", "module", "letters", "inventory"].includes(name));

describe.skipIf(!present)("text that is resumed on the completion endpoint of a real llama-server", () => {
  let engine: Engine;
  let proxy: Lastword;
  beforeAll(async () => {
    engine = await startEngine(2048);
    proxy = await startProxy(engine, { models: [{ match: "*", upstream: "up", continue: "raw" }] });
  }, 60_000);
  afterAll(async () => {
    await proxy?.close();
    await engine?.[Symbol.asyncDispose]();
  });

  for (const { name, messages, content } of texts) {
    it.each([97, 160])(`${name} is whole at a cap of %i tokens, streamed and plain`, async (max_tokens) => {
      const body = { model: "reciter", messages, max_tokens, temperature: 0 };
      const streamed = await postStream(`${proxy.url}/chat/completions`, body, { "x-lastword-explain": "1" });
      expect(streamed.text()).toBe(content);
      expect(streamed.finish()).toBe("stop");
      const told = asObject(streamed.chunks.findLast(({ lastword }) => lastword !== undefined)?.lastword);
      expect(asArray(told?.attempts).map((attempt) => asObject(attempt)?.strategy)).toEqual(["first", "raw"]);
      const plain = await postPlain(`${proxy.url}/chat/completions`, body);
      expect(asObject(asArray(plain.json?.choices)[0])).toMatchObject({ message: { content }, finish_reason: "stop" });
    });
  }
});
