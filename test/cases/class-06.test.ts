import { describe, expect, it } from "vitest";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";
import { done, event, finish, say, think, usage } from "../support/upstream.ts";
import { ask, capped, counted, cut, stage, whole } from "./stage.ts";

const vllm = { dialect: "vllm", window: 32_768 } as const;
const generic = { dialect: "generic", window: 32_768 } as const;
const starved = [think("hm, "), finish("length"), usage(9, 200, { reasoning: 199 }), done()];
const contentOf = (json: JsonObject | undefined) => asObject(asObject(asArray(json?.choices)[0])?.message)?.content;

describe("reasoning that eats the cap", () => {
  it("B41: an answer that never came is asked for again with a larger cap", async () => {
    const { up, plain, play, proxy } = await stage(generic);
    play(starved, [think("hm"), say("42"), finish("stop"), usage(9, 50, { reasoning: 40 }), done()]);
    const got = await plain({ ...ask, max_tokens: 200 });
    expect(contentOf(got.json)).toBe("42");
    expect(got.json).toMatchObject({ choices: [{ finish_reason: "stop" }], usage: { completion_tokens: 50 } });
    expect(up.calls[1]?.body.max_tokens).toBeGreaterThan(200);
    expect(asArray(up.calls[1]?.body.messages)).toHaveLength(1);
    const end = await proxy.finished();
    expect(end).toMatchObject({ outcome: "healed", cause: "reasoning_starved", billedCompletionTokens: 250 });
  });

  it("B41: one that never comes is told as that, and never as an empty stop", async () => {
    const { up, plain } = await stage(generic);
    up.handle(() => starved);
    const got = await plain({ ...ask, max_tokens: 200 });
    expect(got.json).toMatchObject({
      choices: [{ finish_reason: "length" }],
      lastword: { outcome: "cut_off", cause: "reasoning_starved" },
    });
    expect(got.headers["x-lastword-cause"]).toBe("reasoning_starved");
    expect(up.calls.length).toBeLessThanOrEqual(4);
  });

  it("B42: reasoning alone, stop, and a usage of zeros: passed on, and nothing is reckoned with the zeros", async () => {
    const { up, stream, play, metrics, proxy } = await stage({ dialect: "lmstudio", window: 4096 });
    play([think("so ".repeat(700)), finish("stop"), usage(0, 0), done()]);
    const got = await stream(counted);
    expect(got.reasoning()).toBe("so ".repeat(700));
    expect(got.finish()).toBe("stop");
    expect(up.calls).toHaveLength(1);
    await proxy.finished();
    expect(await metrics()).not.toContain("NaN");
    play(whole("ok"));
    const next = await stream();
    expect(next.text()).toBe("ok");
    expect(Number(next.headers["x-lastword-prompt-tokens"])).toBeGreaterThan(0);
  });

  describe("B43: tags in the text", () => {
    it.each([
      ["only the closing one, cut by chunks", ["internal", " reasoning</thi", "nk>answer"]],
      ["spoken of", ["Use `<think>` as a tag."]],
    ])("B43: %s, are passed on untouched", async (_name, pieces) => {
      const { up, stream, play } = await stage(vllm);
      play([...pieces.map((piece) => say(piece)), finish("stop"), done()]);
      const got = await stream();
      expect(got.text()).toBe(pieces.join(""));
      expect(up.calls).toHaveLength(1);
    });

    it("B43: a thought in tags that was cut is not taken for an answer", async () => {
      const { stream, play, proxy } = await stage(vllm);
      play(cut("<think>plan"), whole(" more</think>The answer."));
      const got = await stream(capped);
      expect(got.text()).toBe("<think>plan more</think>The answer.");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "reasoning_starved" });
    });
  });

  describe("B44: fields that nobody knows", () => {
    const chunk = (delta: object, more: object = {}) =>
      event({
        id: "c1",
        object: "chat.completion.chunk",
        model: "m",
        choices: [{ index: 0, delta, ...more }],
        system_fingerprint: "fp_9",
      } as never);
    const strange = [
      { reasoning: "thinking" },
      { reasoning_details: [{ type: "reasoning.text", text: "t" }] },
      { content: "", reasoning_items: [{ id: "r1" }] },
      { content: "hi" },
    ];
    const deltas = (chunks: readonly JsonObject[]) =>
      chunks.flatMap((each) => asArray(each.choices).map((choice) => asObject(choice)?.delta));

    it("B44: reach the client unchanged and in order", async () => {
      const { stream, play } = await stage(generic);
      play([...strange.map((delta) => chunk(delta)), chunk({}, { finish_reason: "stop" }), done()]);
      const got = await stream();
      expect(deltas(got.chunks).slice(0, 4)).toEqual(strange);
      expect(got.chunks[0]).toMatchObject({ system_fingerprint: "fp_9" });
    });

    it("B44: also in a pass that goes on, and there is nothing twice", async () => {
      const { stream, play } = await stage(vllm);
      play([...strange.map((delta) => chunk(delta)), chunk({}, { finish_reason: "length" }), done()], whole(" there"));
      const got = await stream(capped);
      expect(deltas(got.chunks).slice(0, 4)).toEqual(strange);
      expect(got.text()).toBe("hi there");
      expect(got.bytes.toString().split("thinking")).toHaveLength(2);
    });
  });
});
