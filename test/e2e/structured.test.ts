import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asArray, asObject, asString, type JsonObject, parseJson } from "../../src/core/json.ts";
import { type Plain, postPlain, postStream, startStream } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import {
  done,
  finish,
  nudges,
  pause,
  recite,
  type Script,
  say,
  startUpstream,
  think,
  type Upstream,
  type UpstreamOptions,
  usage,
} from "../support/upstream.ts";

const SCHEMA = {
  type: "object",
  properties: { id: { type: "integer" }, items: { type: "array", items: { type: "string" }, minItems: 3 } },
  required: ["id", "items"],
  additionalProperties: false,
};
const ask = {
  model: "m",
  messages: [{ role: "user", content: "Give the list." }],
  response_format: { type: "json_schema", json_schema: { name: "list", schema: SCHEMA } },
  max_tokens: 100,
};
const HEAD = '{"id":7,"items":["a1","b2"';
const REST = ',"c3"]}';
const WHOLE = HEAD + REST;
const cut = (tokens = 100): Script => [finish("length"), usage(20, tokens), done()];
const ended = (): Script => [finish("stop"), usage(20, 40), done()];

describe("a reply of a required format that is cut", () => {
  let up: Upstream;
  let proxy: Lastword;
  const start = async (options: ProxyOptions = {}, server: Partial<UpstreamOptions> = {}) => {
    up = await startUpstream({ dialect: "vllm", window: 32_768, ...server });
    proxy = await startProxy(up, options);
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
  const strategies = () =>
    proxy.events.filter((event) => event.type === "attempt_started").map(({ strategy }) => strategy);

  describe("plain, or with structured: whole", () => {
    it("B38: is asked again, larger, in the format", async () => {
      await start();
      play([say(HEAD), ...cut()], [say(WHOLE), ...ended()]);
      const got = await plain();
      expect(contentOf(got)).toBe(WHOLE);
      expect(finishOf(got)).toBe("stop");
      expect((await up.call(2)).body).toEqual({ ...ask, max_tokens: 4096 });
      expect(await proxy.finished()).toMatchObject({ outcome: "healed", cause: "reply_cap" });
    });

    it("is held until then where it streams, and the client hears nothing twice", async () => {
      await start({ recovery: { structured: "whole" } });
      play([say(HEAD), ...cut()], [say('{"id":7,'), say('"items":["x","y","z"]}'), ...ended()]);
      const got = await stream();
      expect(got.text()).toBe('{"id":7,"items":["x","y","z"]}');
      expect(got.finish()).toBe("stop");
    });

    it("what cannot be larger is gone on with, without the format", async () => {
      await start({ models: [{ match: "*", upstream: "up", maxOutput: 100 }], recovery: { structured: "whole" } });
      play([say(HEAD), ...cut()], [say(REST), ...ended()]);
      const got = await stream();
      expect(got.text()).toBe(WHOLE);
      expect((await up.call(2)).body.response_format).toBeUndefined();
      play([say(HEAD), ...cut()], [say(REST), ...ended()]);
      expect(contentOf(await plain())).toBe(WHOLE);
    });

    it("B39: each asking is larger, tells the failed text at most once, and ends with length and its cause", async () => {
      await start();
      up.handle((call) => {
        const cap = Number(call.body.max_tokens);
        return [say(HEAD), finish("length"), usage(20, cap), done()];
      });
      const got = await plain();
      expect(finishOf(got)).toBe("length");
      expect(contentOf(got)).toBe(HEAD);
      expect(got.headers["x-lastword-cause"]).toBe("reply_cap");
      const bodies = up.calls.map(({ body }) => JSON.stringify(body));
      expect(new Set(bodies).size).toBe(bodies.length);
      for (const body of bodies) expect(body.split("a1").length).toBeLessThanOrEqual(2);
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off", code: "output_cap_exhausted" });
    });
  });

  describe("streaming", () => {
    it("B38: is gone on with, without the format, and its rest comes once the whole is proven", async () => {
      await start();
      play([say(HEAD), ...cut()], [say(',"c'), say('3"]}'), ...ended()]);
      const got = await stream();
      expect(got.text()).toBe(WHOLE);
      expect(got.finish()).toBe("stop");
      const next = (await up.call(2)).body;
      expect(next.response_format).toBeUndefined();
      expect(asArray(next.messages).at(-1)).toMatchObject({ role: "assistant", content: HEAD });
    });

    it("edge 83: a cut inside of an escape is gone on with to a valid one", async () => {
      for (const [head, rest] of [
        ['{"id":1,"items":["a\\', 'n","b","c"]}'],
        ['{"id":1,"items":["\\u00', 'e9","b","c"]}'],
      ] as const) {
        await start();
        play([say(head), ...cut()], [say(rest), ...ended()]);
        const got = await stream();
        expect(got.text()).toBe(head + rest);
        expect(got.finish()).toBe("stop");
        await proxy.close();
        await up.close();
      }
      await start();
    });

    it("edge 84: a grammar that began anew is seen, nothing of it released, and that way is not gone again", async () => {
      await start({}, { dialect: "llamacpp" });
      play([say('{"id":7,"items":["a1","b'), ...cut()], [say('{"id":7,"items":["a1","b2","c3"]}'), ...ended()]);
      play([say(' "items":["a1","b2","c3"]}'), ...ended()]);
      const got = await stream({ ...ask, response_format: ask.response_format });
      expect(got.text().startsWith('{"id":7,"items":["a1","b')).toBe(true);
      expect(got.text()).not.toContain('b{"');
      if (got.finish() === "stop") expect(parseJson(got.text())).toBeDefined();
      expect(strategies().slice(0, 2)).toEqual(["first", "prefill"]);
      expect(strategies()[2]).not.toBe("prefill");
    });

    it("edge 85: what is not valid when joined ends with length, and with no more than was shown", async () => {
      await start();
      play([say(HEAD), ...cut()], [say("]}"), ...ended()]);
      const got = await stream();
      expect(got.text()).toBe(HEAD);
      expect(got.finish()).toBe("length");
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
    });

    it("edge 85: plain, it is asked again once", async () => {
      await start({ models: [{ match: "*", upstream: "up", maxOutput: 5000 }] });
      play([say(HEAD), ...cut()], [say(HEAD), ...cut(4096)], [say(HEAD), ...cut(5000)], [say("]}"), ...ended()]);
      const got = await plain();
      expect(finishOf(got)).toBe("length");
      expect(parseJson(String(contentOf(got)))).toBeUndefined();
      expect(WHOLE.startsWith(String(contentOf(got)))).toBe(true);
    });

    it("a thought written before it is none of it", async () => {
      await start();
      play([say(`<think>a list</think>${HEAD}`), ...cut()], [say(REST), ...ended()]);
      const got = await stream();
      expect(got.text()).toBe(`<think>a list</think>${WHOLE}`);
      expect(got.finish()).toBe("stop");
    });

    it("a thought that is gone on with flows, though the text behind it waits for its proof", async () => {
      await start({ budget: { reasoningAllowanceTokens: 0 } }, { dialect: "llamacpp" });
      play([think("A list of "), ...cut()], [think("three."), pause(), say(HEAD), ...cut()], [say(REST), ...ended()]);
      const live = startStream(`${proxy.url}/chat/completions`, ask);
      await live.until("three.");
      up.release();
      const got = await live.done;
      expect(got.reasoning()).toBe("A list of three.");
      expect(got.text()).toBe(WHOLE);
      expect(got.finish()).toBe("stop");
    });

    it("is never closed by anyone but the model, wherever it is cut", async () => {
      await start({ recovery: { maxAttempts: 2 } });
      for (let at = 1; at < WHOLE.length; at += 3) {
        play([say(WHOLE.slice(0, at)), ...cut()], [say(WHOLE.slice(at, at + 1)), ...cut()]);
        const got = await stream();
        if (at + 1 >= WHOLE.length) continue;
        expect(got.text()).toBe(WHOLE.slice(0, at));
        expect(got.finish()).toBe("length");
      }
    });
  });

  describe("a list", () => {
    const items = Array.from({ length: 80 }, (_, at) => `entry number ${at} of ${at * 131}`);
    const LONG = JSON.stringify({ id: 1, items });

    it.each([false, true])("on a server that can only be nudged, streamed: %s", async (streams) => {
      await start(
        { models: [{ match: "*", upstream: "up", maxOutput: 300 }], recovery: { structured: "whole", maxAttempts: 8 } },
        { dialect: "generic" },
      );
      up.handle(recite(LONG, { nudge: nudges.anchor }));
      const text = streams ? (await stream()).text() : contentOf(await plain());
      expect(text).toBe(LONG);
    });

    it("is cut back to its last whole element where the joint cannot be decided, and only where that was not shown", async () => {
      await start(
        { models: [{ match: "*", upstream: "up", maxOutput: 100 }], recovery: { structured: "whole" } },
        { dialect: "generic" },
      );
      const begun = '{"id":1,"items":["a lamp that burns low, by the door","a second lamp on the window sill"';
      const whole = `${begun},"then a third"]}`;
      up.handle((call) => {
        const [, partial, order] = asArray(call.body.messages).map(
          (message) => asString(asObject(message)?.content) ?? "",
        );
        if (call.n === 1) return [say(`${begun},"then a thi`), ...cut()];
        if (call.n === 2) return [say("Certainly! Here it is, once more from where we were, in full."), ...ended()];
        return [say(nudges.anchor(partial ?? "", order ?? "", whole.slice(partial?.length))), ...ended()];
      });
      const got = await stream();
      expect(got.text()).toBe(whole);
      const shown = asArray((await up.call(3)).body.messages).map((message) => asString(asObject(message)?.content));
      expect(shown[1]).not.toContain("thi");
    });
  });

  describe("constraint loops", () => {
    beforeEach(() => start());
    it.each([
      ["whitespace", `{"id":7,${" ".repeat(300)}`],
      ["digits", `{"id":7${"1".repeat(300)}`],
    ])("edge 86: %s without end is not gone on with", async (_name, text) => {
      play([say(text), ...cut()], [say(text), ...cut()]);
      expect((await stream()).finish()).toBe("length");
      expect(finishOf(await plain())).toBe("length");
      expect(up.calls).toHaveLength(2);
    });
  });

  describe("that is not cut", () => {
    it("length with a whole and valid value is whole", async () => {
      await start();
      play([say(WHOLE), ...cut()], [say(WHOLE), ...cut()]);
      const got = await stream();
      expect(got.text()).toBe(WHOLE);
      expect(got.finish()).toBe("stop");
      expect(finishOf(await plain())).toBe("stop");
      expect(up.calls).toHaveLength(2);
      expect(await proxy.finished(2)).toMatchObject({ outcome: "complete" });
    });

    it("but not what was asked for, is passed on and counted as malformed", async () => {
      await start();
      play([say('{"id":"seven"}'), ...ended()], [say('{"id":"seven"}'), ...ended()]);
      expect((await stream()).finish()).toBe("stop");
      expect(contentOf(await plain())).toBe('{"id":"seven"}');
      expect(await proxy.finished(2)).toMatchObject({ outcome: "malformed" });
      expect(up.calls).toHaveLength(2);
    });

    it("with repairMalformed it is asked for once more, in other words, if nothing was shown", async () => {
      await start({ recovery: { repairMalformed: true } });
      play([say('{"id":"seven"}'), ...ended()], [say(WHOLE), ...ended()]);
      expect(contentOf(await plain())).toBe(WHOLE);
      const { max_tokens, response_format, messages } = (await up.call(2)).body;
      expect({ max_tokens, response_format }).toEqual({ max_tokens: 100, response_format: ask.response_format });
      expect(asString(asObject(asArray(messages)[0])?.content)).toMatch(/^Give the list\.\n\n.*not valid/s);
      expect(await proxy.finished()).toMatchObject({ outcome: "complete" });
      play([say('{"id":"seven"}'), ...ended()], [say('{"id":"seven"}'), ...ended()]);
      expect(contentOf(await plain())).toBe('{"id":"seven"}');
      expect(await proxy.finished(2)).toMatchObject({ outcome: "malformed" });
      play([say('{"id":"seven"}'), ...ended()]);
      expect((await stream()).text()).toBe('{"id":"seven"}');
      expect(up.calls).toHaveLength(5);
    });

    it("B40: JSON in the reasoning alone is no cut, is not copied, and is told apart", async () => {
      await start({}, { dialect: "lmstudio" });
      play([think('{"id":7,"items":["a","b","c"]}'), say(""), ...ended()]);
      const got = await plain();
      expect(contentOf(got)).toBe("");
      expect(finishOf(got)).toBe("stop");
      expect(up.calls).toHaveLength(1);
      expect(await proxy.finished()).toMatchObject({ outcome: "malformed" });
    });
  });

  it("json_object must be an object, closed by the model", async () => {
    await start();
    const body = { ...ask, response_format: { type: "json_object" } };
    play([say('{"a": [1, 2'), ...cut()], [say(", 3]}"), ...ended()]);
    expect((await stream(body)).text()).toBe('{"a": [1, 2, 3]}');
    play([say('{"a": [1, 2'), ...cut()], [say(", 3"), ...ended()]);
    const got = await stream(body);
    expect(got.text()).toBe('{"a": [1, 2');
    expect(got.finish()).toBe("length");
  });

  it("a schema that would block for seconds blocks nobody", async () => {
    await start();
    const hostile = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const body = { ...ask, response_format: { type: "json_schema", json_schema: { name: "h", schema: hostile } } };
    const trap = `{"a":"${"a".repeat(28)}!"}`;
    play([say(trap), ...ended()], [say("free"), ...ended()]);
    const first = plain(body);
    await up.call(1);
    const free = await plain({ model: "m", messages: ask.messages });
    expect(contentOf(free)).toBe("free");
    expect(contentOf(await first)).toBe(trap);
  });
});

function choiceOf({ json }: Plain): JsonObject {
  return asObject(asArray(json?.choices)[0]) ?? {};
}

const finishOf = (plain: Plain) => choiceOf(plain).finish_reason;
const contentOf = (plain: Plain) => asObject(choiceOf(plain).message)?.content;
