import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { get, postPlain } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { type Engine, present, recitals, startEngine } from "./engine.ts";

const WINDOW = 2048;

describe.skipIf(!present)("the budget, in front of a real llama-server", () => {
  let engine: Engine;
  let proxy: Lastword;
  beforeAll(async () => {
    engine = await startEngine(WINDOW);
    proxy = await startProxy(engine);
  }, 60_000);
  afterAll(async () => {
    await proxy?.close();
    await engine?.[Symbol.asyncDispose]();
  });

  const ask = (content: string, more: object = {}) =>
    postPlain(`${proxy.url}/chat/completions`, {
      model: "reciter",
      messages: [{ role: "user", content }],
      temperature: 0,
      ...more,
    } as never);
  /** Prompts that the server has processed. */
  const generations = () => proxy.events.filter((event) => event.type === "attempt_started").length;

  it("refuses a prompt of 5,000 words with its numbers, and generates nothing", async () => {
    const before = generations();
    const refused = await ask("word ".repeat(5000));
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ error: { code: "context_length_exceeded", lastword: { window: WINDOW } } });
    expect(refused.headers["x-lastword-window"]).toBe(String(WINDOW));
    expect(generations()).toBe(before);
  });

  it("lowers a cap of 100,000 to the room, and says so", async () => {
    const hello = recitals.find((recital) => recital.name === "hello");
    const answer = await ask("x ".repeat(150), { max_tokens: 100_000 });
    expect(answer.status).toBe(200);
    expect(answer.headers["x-lastword-cap"]).toMatch(/^asked=100000;sent=\d+;reason=room$/);
    expect(answer.headers["x-lastword-count-method"]).toBe("exact");
    expect(hello).toBeDefined();
  });

  it("never refuses what fits by one token, never sends what is over by one", async () => {
    const tokens = async (content: string) => {
      const counted = await postPlain(`${engine.url}/chat/completions/input_tokens`, {
        model: "reciter",
        messages: [{ role: "user", content }],
      });
      return Number(counted.json?.input_tokens);
    };
    const base = await tokens("");
    const each = ((await tokens("a ".repeat(100))) - base) / 100;
    const full = Math.floor((WINDOW - base) / each);
    let fits = 0;
    let refused = 0;
    for (let words = full - 100; words < full + 100; words++) {
      const content = "a ".repeat(words);
      const prompt = await tokens(content);
      const answer = await ask(content, { max_tokens: 1 });
      const should = prompt <= WINDOW - 1;
      if (should) fits++;
      else refused++;
      expect([prompt, answer.status]).toEqual([prompt, should ? 200 : 400]);
    }
    expect(fits).toBeGreaterThan(10);
    expect(refused).toBeGreaterThan(10);
  }, 120_000);

  it("lists the model with its real window", async () => {
    const listed = await get(`${proxy.url}/models`);
    expect(listed.json).toMatchObject({ data: [{ lastword: { window: WINDOW, window_source: "loaded" } }] });
  });
});
