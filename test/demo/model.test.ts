import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { RECITAL, recite, tokenize } from "../../src/demo/model.ts";

const RESUMES = { window: 4096, resumes: true };
const NUDGED = { window: 4096, resumes: false };
const user = (content: string): JsonObject => ({ role: "user", content });
const assistant = (content: string): JsonObject => ({ role: "assistant", content });
const said = (body: JsonObject, traits = RESUMES) => recite(body, traits).tokens.join("");

describe("the demo's model", () => {
  test("says all it knows where nothing cuts it", () => {
    expect(said({ messages: [user("hi")] })).toBe(RECITAL);
    expect(recite({ messages: [user("hi")], max_tokens: -1 }, RESUMES).finish).toBe("stop");
  });

  test.each(["n_predict", "max_tokens", "max_completion_tokens"])("is cut at %s", (field) => {
    const reply = recite({ messages: [user("hi")], [field]: 80 }, RESUMES);
    expect(reply.tokens).toHaveLength(80);
    expect(reply.finish).toBe("length");
    expect(RECITAL.startsWith(reply.tokens.join(""))).toBe(true);
  });

  test("is cut where its window ends", () => {
    const reply = recite({ messages: [user("hi")] }, { window: 25, resumes: true });
    expect(reply.finish).toBe("length");
    expect(reply.promptTokens + reply.tokens.length).toBe(25);
  });

  test("goes on with its own message, cut anywhere", () => {
    for (let at = 1; at < RECITAL.length; at++) {
      const partial = RECITAL.slice(0, at);
      expect(said({ messages: [user("hi"), assistant(partial)] })).toBe(RECITAL.slice(at));
    }
  });

  test("reads a message that is a list of parts", () => {
    const content = [{ type: "text", text: RECITAL.slice(0, 40) }];
    expect(said({ messages: [user("hi"), { role: "assistant", content }] })).toBe(RECITAL.slice(40));
  });

  test("one that cannot resume begins a new message", () => {
    expect(said({ messages: [user("hi"), assistant(RECITAL.slice(0, 40))] }, NUDGED)).toBe(RECITAL);
  });

  test("asked to go on, it goes on exactly", () => {
    expect(said({ messages: [user("hi"), assistant(RECITAL.slice(0, 300)), user("Go on.")] }, NUDGED)).toBe(
      RECITAL.slice(300),
    );
  });

  test("asked to begin with its last words, it does", () => {
    const partial = RECITAL.slice(0, 300);
    const words = partial.slice(-20);
    const order = `Go on, and begin with exactly these words: "${words}"`;
    expect(said({ messages: [user("hi"), assistant(partial), user(order)] }, NUDGED)).toBe(words + RECITAL.slice(300));
  });

  test("a new question after a whole reply is answered anew", () => {
    expect(said({ messages: [user("hi"), assistant(RECITAL), user("again")] }, NUDGED)).toBe(RECITAL);
  });

  test("tokens hold all of any text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => tokenize(text).join("") === text));
  });
});
