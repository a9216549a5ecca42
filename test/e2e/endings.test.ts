import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import {
  comment,
  done,
  eof,
  errorData,
  event,
  finish,
  raw,
  reset,
  role,
  type Script,
  say,
  startUpstream,
  status,
  think,
  tool,
  type Upstream,
  usage,
} from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };
const counted = { ...ask, stream_options: { include_usage: true } };
const chunk = (choices: unknown[], more: object = {}) =>
  event({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more } as never);

/** How a reply ended: by what a client sees, what the upstream was asked, and what was counted. */
describe("how a chat reply ends", () => {
  let up: Upstream;
  let proxy: Lastword;
  beforeEach(async () => {
    up = await startUpstream({ dialect: "vllm", window: 32_768 });
    proxy = await startProxy(up);
  });
  afterEach(async () => {
    await proxy.close();
    await up.close();
  });

  const stream = (body: object = ask) => postStream(`${proxy.url}/chat/completions`, body as never);
  const plain = (body: object = ask) => postPlain(`${proxy.url}/chat/completions`, body as never);
  const play = (...scripts: Script[]) => {
    for (const script of scripts) up.next(...script);
  };
  const goesOn = (text: string): Script => [say(text), finish("stop"), done()];

  describe("edges 1 to 18", () => {
    it("edge 1: length with text is gone on with", async () => {
      play([say("one "), finish("length"), usage(5, 100), done()], goesOn("two"));
      const got = await stream({ ...ask, max_tokens: 100 });
      expect(got.text()).toBe("one two");
      expect(got.finish()).toBe("stop");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "reply_cap" });
    });

    it("edge 2, B25: stop at the cap is not a cut by its looks", async () => {
      play([say("ends in the mid"), finish("stop"), usage(5, 99), done()]);
      expect((await stream({ ...ask, max_tokens: 100 })).finish()).toBe("stop");
      expect(up.calls).toHaveLength(1);
      expect(await proxy.finished()).toMatchObject({ outcome: "complete" });
    });

    it("edge 3: an open fence below the cap is complete", async () => {
      play([say("```py\nx = 1"), finish("stop"), usage(5, 9), done()]);
      expect((await stream({ ...ask, max_tokens: 100 })).text()).toBe("```py\nx = 1");
      expect(up.calls).toHaveLength(1);
    });

    it("edge 6, B21: a bare end of the stream is gone on with", async () => {
      play([say("The capital"), say(" is"), eof()], goesOn(" Paris."));
      const got = await stream();
      expect(got.text()).toBe("The capital is Paris.");
      expect(got.finish()).toBe("stop");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "upstream_broken" });
    });

    it("edge 6: after failures the end is told as cut, never as stop", async () => {
      play([say("The capital"), eof()], [reset()], [reset()], [reset()], [reset()]);
      const got = await stream();
      expect(got.text()).toBe("The capital");
      expect(got.finish()).toBe("length");
      expect(got.ended).toBe(true);
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "upstream_broken" });
    });

    it("edge 7: a finish without [DONE] is complete, and the client gets its terminal event", async () => {
      play([say("Hello"), finish("stop"), eof()]);
      const got = await stream();
      expect(got.text()).toBe("Hello");
      expect(got.ended).toBe(true);
      expect(up.calls).toHaveLength(1);
    });

    it("edge 8: [DONE] ends the reply although the socket stays open", async () => {
      play([say("Hello"), finish("stop"), done(), { act: "stall" }]);
      expect((await stream()).finish()).toBe("stop");
      expect(await up.calls[0]?.ended).toBe("aborted");
    });

    it("edge 9: half an event behind the terminal one is ignored", async () => {
      play([say("Hello"), finish("stop"), done(), raw('data: {"choices":[{"de'), eof()]);
      const got = await stream();
      expect(got.events.at(-1)?.data).toBe("[DONE]");
      expect(got.text()).toBe("Hello");
    });

    it("edge 13: an error in the stream is no cut by a cap", async () => {
      play([say("a"), errorData({ error: { message: "overloaded", code: 503 } }), eof()], goesOn("b"));
      const got = await stream();
      expect(got.text()).toBe("ab");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "upstream_broken" });
    });

    it("edge 14, B48: a full window is not gone on with", async () => {
      play([say("x"), finish("length"), usage(32_638, 130), done()]);
      const got = await stream();
      expect(got.finish()).toBe("length");
      expect(up.calls).toHaveLength(1);
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "context_full" });
    });

    it("edge 16: a tiny cap is honoured", async () => {
      play([say("H"), finish("length"), usage(5, 1), done()]);
      const got = await stream({ ...ask, max_tokens: 1 });
      expect(got.text()).toBe("H");
      expect(got.finish()).toBe("length");
      expect(up.calls).toHaveLength(1);
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "honoured_cap" });
    });

    it("edge 17, B20: a default that nobody chose is overcome, and the next pass asks for more", async () => {
      play([say("half an answ"), finish("length"), usage(20, 128), done()], goesOn("er."));
      const got = await stream();
      expect(got.text()).toBe("half an answer.");
      expect(up.calls[0]?.body).not.toHaveProperty("max_tokens");
      expect(up.calls[1]?.body).toMatchObject({ max_tokens: 4096 });
    });

    it("edge 18: a cap on the natural end adds nothing", async () => {
      play([say("The end."), finish("length"), usage(5, 100), done()], [finish("stop"), usage(105, 0), done()]);
      const got = await stream({ ...ask, max_tokens: 100 });
      expect(got.text()).toBe("The end.");
      expect(got.finish()).toBe("stop");
      expect(up.calls).toHaveLength(2);
    });
  });

  describe("class 3", () => {
    it("B22: [DONE] without a finish reason is complete", async () => {
      for (const script of [
        [say("Hello"), done()],
        [say("Hello"), chunk([{ index: 0, delta: {}, finish_reason: null }]), done()],
        [say("Hello"), chunk([], { usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } }), done()],
      ] satisfies Script[]) {
        const before = up.calls.length;
        play(script);
        const got = await stream();
        expect(got.text()).toBe("Hello");
        expect(got.finish()).toBe("stop");
        expect(got.events.filter((one) => one.data === "[DONE]")).toHaveLength(1);
        expect(up.calls.length - before).toBe(1);
      }
    });

    it("B21: nor is half a text ever a plain reply that says stop", async () => {
      proxy = await restarted({ recovery: { continue: undefined } });
      play([say("The capital"), say(" is"), reset()], goesOn(" Paris."));
      const got = await plain();
      expect(got.json).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    });

    it("B23: without healing a lost stream ends in one error", async () => {
      play([say("a"), say("b"), reset()]);
      const got = await postStream(`${proxy.url}/chat/completions`, ask, { "x-lastword-heal": "off" });
      expect(got.text()).toBe("ab");
      expect(got.finish()).toBeNull();
      expect(got.chunks.at(-1)).toMatchObject({ error: { type: "upstream_error" } });
      expect(got.events.at(-1)?.data).toBe("[DONE]");
      expect(got.broken).toBe(false);
      expect(await proxy.finished()).toMatchObject({ outcome: "failed" });
    });

    it("B24: an error before any output is an HTTP error", async () => {
      const error = { choices: [], error: { code: 400, message: "Worker refuses" } };
      play([event(error as never), done()]);
      const got = await stream();
      expect(got.status).toBe(400);
      expect(got.bytes.toString()).toContain("Worker refuses");
    });

    it("B24: a call that an error cuts is never shown as usable", async () => {
      const broken = chunk([{ index: 0, delta: {}, finish_reason: "error" }], {
        error: { code: 502, message: "gone" },
      });
      for (let i = 0; i < 6; i++) play([tool(0, { id: "t", name: "bash" }, '{"cmd":"ls'), broken, eof()]);
      const got = await stream({ ...ask, tools: [{ type: "function", function: { name: "bash", parameters: {} } }] });
      expect(got.bytes.toString()).not.toContain('"cmd');
      expect(got.finish()).not.toBe("tool_calls");
    });

    it("B26: two terminal chunks become one", async () => {
      play([
        chunk([{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }]),
        finish("stop"),
        usage(3, 1, { force: true }),
        done(),
        done(),
      ]);
      const got = await stream(counted);
      expect(got.text()).toBe("hi");
      const ends = got.chunks.filter((one) => JSON.stringify(one).includes('"finish_reason":"stop"'));
      expect(ends).toHaveLength(1);
      expect(got.chunks.filter((one) => one.usage != null)).toHaveLength(1);
      expect(got.events.filter((one) => one.data === "[DONE]")).toHaveLength(1);
    });

    it("B27: a finish beside the last content loses neither", async () => {
      play([chunk([{ index: 0, delta: { content: "the " }, finish_reason: "length" }]), done()], goesOn("end"));
      const got = await stream({ ...ask, max_tokens: 100 });
      expect(got.text()).toBe("the end");
      expect(got.finish()).toBe("stop");
    });

    it.each(["model_length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "length"])(
      "B28: %s is a cut",
      async (reason) => {
        play([say("a "), finish(reason), usage(5, 100), done()], goesOn("b"));
        const got = await stream({ ...ask, max_tokens: 100 });
        expect(got.text()).toBe(reason === "model_length" ? "a " : "a b");
      },
    );

    it.each(["content_filter", "refusal"])("B28: %s is passed on, and nothing is asked again", async (reason) => {
      play([say("a"), finish(reason), done()]);
      const got = await stream();
      expect(got.text()).toBe("a");
      expect(got.finish()).toBe(reason);
      expect(up.calls).toHaveLength(1);
    });

    it.each(["eos", "future_reason"])("B28: %s ends the reply", async (reason) => {
      play([say("a"), finish(reason), done()]);
      expect((await stream()).text()).toBe("a");
      expect(up.calls).toHaveLength(1);
    });

    it("B29: a cap is never told as an overflow", async () => {
      play([say("a b c"), finish("length"), usage(100, 50), done()]);
      const got = await stream({ ...ask, max_tokens: 50 });
      expect(got.status).toBe(200);
      expect(got.finish()).toBe("length");
      expect(got.bytes.toString()).not.toContain("context_length_exceeded");
    });

    it.each([
      ["an error in a 200", { error: "Unexpected endpoint or method. (POST /v1/foo)" }],
      ["no choices", { id: "x", choices: [] }],
    ])("B30: %s is never a reply", async (_name, body) => {
      for (let i = 0; i < 3; i++) play([status(200, body)]);
      const got = await plain();
      expect(got.status).toBeGreaterThanOrEqual(400);
      expect(got.json).toHaveProperty("error");
    });

    it("B76: a stream with no output at all is a typed error after one retry", async () => {
      for (const script of [[comment("hb"), comment("hb"), eof()], [done()], [eof()]] satisfies Script[]) {
        const before = up.calls.length;
        play(script, script, script);
        const got = await stream();
        expect(got.status).toBe(502);
        expect(got.bytes.toString()).toContain("upstream_protocol_error");
        expect(up.calls.length - before).toBe(2);
        await drained();
      }
    });

    it("B76: an empty answer that ends properly is passed on", async () => {
      play([role(), finish("stop"), done()]);
      const got = await stream();
      expect(got.status).toBe(200);
      expect(got.finish()).toBe("stop");
      expect(up.calls).toHaveLength(1);
    });

    it("reasoning alone, ended by itself, is passed on as it is", async () => {
      play([think("hm"), finish("stop"), done()]);
      const got = await stream();
      expect(got.reasoning()).toBe("hm");
      expect(got.finish()).toBe("stop");
    });
  });

  async function restarted(options: Parameters<typeof startProxy>[1]): Promise<Lastword> {
    await proxy.close();
    return startProxy(up, options);
  }

  /** Plays what is left in the queue, so that the next case begins with its own. */
  async function drained(): Promise<void> {
    await postPlain(`${up.url}/chat/completions`, ask).catch(() => undefined);
  }
});
