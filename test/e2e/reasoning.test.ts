import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";
import { type Plain, postPlain, postStream } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import {
  done,
  event,
  finish,
  raw,
  recite,
  role,
  type Script,
  say,
  startUpstream,
  status,
  think,
  type Upstream,
  type UpstreamOptions,
  usage,
} from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "What is six times seven?" }], max_tokens: 200 };
const starved = (tokens = 200, reasoning = tokens - 1): Script => [
  finish("length"),
  usage(20, tokens, { reasoning }),
  done(),
];
const ended = (reasoning = 5): Script => [finish("stop"), usage(20, 40, { reasoning }), done()];
const chunk = (delta: JsonObject, more: JsonObject = {}) =>
  event({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: null }],
    ...more,
  });

describe("reasoning that takes the cap", () => {
  let up: Upstream;
  let proxy: Lastword;
  const start = async (options: ProxyOptions = {}, server: Partial<UpstreamOptions> = {}) => {
    up = await startUpstream({ dialect: "vllm", window: 65_536, ...server });
    proxy = await startProxy(up, { budget: { reasoningAllowanceTokens: 0 }, ...options });
  };
  afterEach(async () => {
    await proxy.close();
    await up.close();
  });
  const stream = (body: JsonObject = ask) => postStream(`${proxy.url}/chat/completions`, body);
  const plain = (body: JsonObject = ask) => postPlain(`${proxy.url}/chat/completions`, body);
  const play = (...scripts: Script[]) => {
    for (const script of scripts) up.next(...script);
  };
  const caps = () => up.calls.map(({ body }) => body.max_tokens);
  const efforts = () => up.calls.map(({ body }) => body.reasoning_effort ?? body.chat_template_kwargs);
  const OFF = { enable_thinking: false, thinking: false };

  describe("on a server that cannot resume a thought", () => {
    it("edge 87, B41: is asked again with more room; the answer comes, and nothing of the thought as content", async () => {
      await start();
      play([think("hm ".repeat(190)), ...starved()], [think("hm"), say("42"), ...ended()]);
      const got = await plain();
      expect(messageOf(got)).toMatchObject({ content: "42", reasoning: "hm" });
      expect(finishOf(got)).toBe("stop");
      expect(caps()).toEqual([200, 4096]);
      expect(asArray((await up.call(2)).body.messages)).toEqual(ask.messages);
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "reasoning_starved" });
    });

    it("B41: hidden reasoning, known from usage alone, too", async () => {
      await start();
      play([...starved(200, 199)], [say("42"), ...ended()]);
      const got = await plain();
      expect(messageOf(got)?.content).toBe("42");
      expect(got.json?.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 40 });
      expect(await proxy.finished()).toMatchObject({ cause: "reasoning_starved", billedCompletionTokens: 240 });
    });

    it("edge 89: a thought that was shown is shown once; the answer of the next pass follows it", async () => {
      await start();
      play([think("First, "), think("six"), ...starved()], [think("Six times seven."), say("42"), ...ended()]);
      const got = await stream();
      expect(got.reasoning()).toBe("First, six");
      expect(got.text()).toBe("42");
      expect(got.finish()).toBe("stop");
    });

    it("raise: larger twice over, then with less effort, then with none", async () => {
      await start();
      up.handle((call) =>
        efforts().at(-1) !== undefined && call.n === 4
          ? [say("42"), ...ended(0)]
          : [...starved(Number(call.body.max_tokens))],
      );
      expect(messageOf(await plain())?.content).toBe("42");
      expect(caps()).toEqual([200, 4096, 8192, 16_384]);
      expect(efforts()).toEqual([undefined, undefined, "low", OFF]);
    });

    it("lower: the same cap with less effort, then more of both", async () => {
      await start({ recovery: { secondAttempt: "lower" } });
      play([...starved()], [...starved()], [say("42"), ...ended(0)]);
      expect(messageOf(await plain())?.content).toBe("42");
      expect(caps()).toEqual([200, 200, 4096]);
      expect(efforts()).toEqual([undefined, "low", OFF]);
    });

    it("both at once", async () => {
      await start({ recovery: { secondAttempt: "both" } });
      play([...starved()], [say("42"), ...ended(0)]);
      expect(messageOf(await plain())?.content).toBe("42");
      expect(caps()).toEqual([200, 4096]);
      expect(efforts()).toEqual([undefined, "low"]);
    });

    it("edge 92: for one pass only; but a model that less effort has mended is asked so at its next cut", async () => {
      await start();
      play([...starved()], [...starved(4096)], [say("42"), ...ended(0)]);
      await plain();
      play([say("43"), ...ended(0)]);
      await plain();
      expect(efforts()).toEqual([undefined, undefined, "low", undefined]);
      play([...starved()], [say("44"), ...ended(0)]);
      expect(messageOf(await plain())?.content).toBe("44");
      expect(efforts().slice(4)).toEqual([undefined, "low"]);
      expect(caps().slice(4)).toEqual([200, 4096]);
    });

    it("edge 91: an effort that the model refuses is taken back, the next rung tried, and never sent to it again", async () => {
      await start({ recovery: { secondAttempt: "both" } });
      const refusal = {
        error: {
          message: "Unsupported value: 'reasoning_effort' does not support 'low' with this model.",
          type: "invalid_request_error",
          param: "reasoning_effort",
          code: "unsupported_value",
        },
      };
      play([...starved()], [status(400, refusal)], [say("42"), ...ended()]);
      expect(messageOf(await plain())?.content).toBe("42");
      expect(caps()).toEqual([200, 4096, 4096]);
      expect(efforts()).toEqual([undefined, "low", undefined]);
      play([...starved()], [say("43"), ...ended()]);
      expect(messageOf(await plain())?.content).toBe("43");
      expect(efforts().slice(3)).toEqual([undefined, undefined]);
    });

    it("the same request is never sent again unchanged", async () => {
      for (const secondAttempt of ["raise", "lower", "both"]) {
        await start({ recovery: { secondAttempt } });
        up.handle((call) => [...starved(Number(call.body.max_tokens))]);
        expect(finishOf(await plain())).toBe("length");
        const bodies = up.calls.map(({ bytes }) => bytes.toString());
        expect(new Set(bodies).size).toBe(bodies.length);
        await proxy.close();
        await up.close();
      }
      await start();
    });

    it("B41: at the end of all attempts it says length and why, and content is empty", async () => {
      await start({ recovery: { maxAttempts: 1 } });
      play([think("hm"), ...starved()], [think("hm"), ...starved()]);
      const got = await plain();
      expect(messageOf(got)).toMatchObject({ content: "", reasoning: "hm" });
      expect(finishOf(got)).toBe("length");
      expect(got.headers["x-lastword-cause"]).toBe("reasoning_starved");
      const streamed = await stream();
      expect(streamed.text()).toBe("");
      expect(streamed.reasoning()).toBe("hm");
      expect(streamed.finish()).toBe("length");
    });

    it("a 400 that says the reasoning took all is a cut, and asked again", async () => {
      await start({}, { dialect: "openai" });
      const message =
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.";
      play(
        [status(400, { error: { message, type: "invalid_request_error", param: null, code: null } })],
        [say("42"), ...ended()],
      );
      expect(messageOf(await plain())?.content).toBe("42");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "reasoning_starved" });
    });
  });

  describe("on a server that resumes a thought", () => {
    const recital = {
      reasoning: `${"They ask for a product, and I know my tables. ".repeat(10)}So.`,
      text: "It is 42.",
    };

    it.each([70, 100])(
      "edge 88: it goes on inside of it: one thought, one answer, at a cap of %i",
      async (max_tokens) => {
        await start({}, { dialect: "llamacpp" });
        up.handle(recite(recital));
        const got = await stream({ ...ask, max_tokens });
        expect(got.reasoning()).toBe(recital.reasoning);
        expect(got.text()).toBe(recital.text);
        expect(got.finish()).toBe("stop");
        const whole = await plain({ ...ask, max_tokens });
        expect(messageOf(whole)).toMatchObject({ content: recital.text, reasoning_content: recital.reasoning });
        expect(asObject(asArray((await up.call(2)).body.messages).at(-1))?.content).toBe("");
      },
    );

    it("and on into its text when that is cut too", async () => {
      await start({ models: [{ match: "*", upstream: "up", maxOutput: 90 }] }, { dialect: "llamacpp" });
      const long = {
        reasoning: recital.reasoning,
        text: "Six times seven is forty-two, as every table has it. ".repeat(6),
      };
      up.handle(recite(long));
      const got = await stream({ ...ask, max_tokens: 90 });
      expect(got.reasoning()).toBe(long.reasoning);
      expect(got.text()).toBe(long.text);
      expect(got.finish()).toBe("stop");
    });
  });

  describe("written as text", () => {
    beforeEach(() => start());

    it("edge 90, B43: cut before its closer, it is gone on with as the text that it is, and no closer leaks", async () => {
      await proxy.close();
      await up.close();
      await start({}, { dialect: "llamacpp" });
      play([say("<think>plan"), finish("length"), usage(20, 200), done()], [say(" it</think>42"), ...ended()]);
      const got = await stream();
      expect(got.text()).toBe("<think>plan it</think>42");
      expect(got.finish()).toBe("stop");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "reasoning_starved" });
    });

    it("B43: with tags split over chunks, or only the closing one, or spoken of, it is passed as it came", async () => {
      const scripts: [Script, string][] = [
        [[say("internal"), say(" reasoning</thi"), say("nk>answer")], "internal reasoning</think>answer"],
        [[say("Use `<think>` as a tag.")], "Use `<think>` as a tag."],
      ];
      for (const [said, text] of scripts) {
        play([...said, ...ended()]);
        const got = await stream();
        expect(got.text()).toBe(text);
        expect(got.finish()).toBe("stop");
      }
      expect(up.calls).toHaveLength(2);
    });

    it("B43: plain, where nothing was shown and it cannot be resumed, it is asked again", async () => {
      await proxy.close();
      await up.close();
      await start({}, { dialect: "generic" });
      play(
        [say("<think>plan"), finish("length"), usage(20, 200), done()],
        [say("<think>plan it</think>42"), ...ended()],
      );
      expect(messageOf(await plain())?.content).toBe("<think>plan it</think>42");
      expect(caps()).toEqual([200, 4096]);
    });
  });

  describe("is passed on as it came", () => {
    beforeEach(() => start());

    it("B42: nothing but reasoning, stop, and usage of zeros is no cut", async () => {
      play([think("so ".repeat(600)), finish("stop"), usage(0, 0, { force: true }), done()]);
      const got = await stream();
      expect(got.finish()).toBe("stop");
      expect(got.text()).toBe("");
      expect(up.calls).toHaveLength(1);
    });

    it("B44: fields that nobody knows reach the client in order, also from a pass that was joined", async () => {
      const details = { reasoning_details: [{ type: "reasoning.text", text: "t" }] };
      const items = { content: "", reasoning_items: [{ id: "r1" }] };
      play(
        [
          role(),
          chunk({ reasoning: "thinking" }),
          chunk(details),
          chunk(items),
          chunk({ content: "hi" }, { system_fingerprint: "fp" }),
          finish("length"),
          usage(20, 200),
          done(),
        ],
        [chunk({ content: " there", audio_hint: 1 }, { service: "x" }), ...ended(0)],
      );
      const got = await stream();
      const [, ...chunks] = got.chunks;
      const deltas = chunks.map((each) => asObject(asObject(asArray(each.choices)[0])?.delta));
      const joined = { content: " there", audio_hint: 1 };
      expect(deltas.slice(0, 5)).toEqual([{ reasoning: "thinking" }, details, items, { content: "hi" }, joined]);
      expect(chunks[3]?.system_fingerprint).toBe("fp");
      expect(chunks[4]?.service).toBe("x");
      expect(got.text()).toBe("hi there");
    });

    it("edge 93: a signed thought is never sent back, whole or edited", async () => {
      await proxy.close();
      await up.close();
      await start({}, { dialect: "llamacpp" });
      const sse = (json: JsonObject) => raw(`event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`);
      const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
      const begun = (...more: JsonObject[]): Script => [
        sse({ type: "message_start", message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } }),
        ...more.map(sse),
      ];
      const delta = (index: number, said: JsonObject) => ({ type: "content_block_delta", index, delta: said });
      const stop = (reason: string): JsonObject[] => [
        { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 200 } },
        { type: "message_stop" },
      ];
      play(
        begun(
          { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
          delta(0, { type: "thinking_delta", thinking: "Six times seven." }),
          delta(0, { type: "signature_delta", signature: "c2lnbmVk" }),
          { type: "content_block_stop", index: 0 },
          { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
          delta(1, { type: "text_delta", text: "It is " }),
          { type: "content_block_stop", index: 1 },
          ...stop("max_tokens"),
        ),
        begun(
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          delta(0, { type: "text_delta", text: "42." }),
          { type: "content_block_stop", index: 0 },
          ...stop("end_turn"),
        ),
      );
      const got = await postStream(`${proxy.url}/messages`, {
        ...ask,
        thinking: { type: "enabled", budget_tokens: 64 },
      });
      expect(got.text()).toBe("It is 42.");
      expect(got.reasoning()).toBe("Six times seven.");
      const sent = JSON.stringify((await up.call(2)).body);
      expect(sent).not.toContain("c2lnbmVk");
      expect(sent).not.toContain("Six times seven.");
    });
  });
});

function choiceOf({ json }: Plain): JsonObject {
  return asObject(asArray(json?.choices)[0]) ?? {};
}

const finishOf = (plain: Plain) => choiceOf(plain).finish_reason;
const messageOf = (plain: Plain) => asObject(choiceOf(plain).message);
