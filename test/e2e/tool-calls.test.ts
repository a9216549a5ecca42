import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asArray, asObject, asString, type JsonObject } from "../../src/core/json.ts";
import { type Plain, postPlain, postStream, type Streamed } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import {
  done,
  eof,
  finish,
  nudges,
  recite,
  type Script,
  say,
  startUpstream,
  status,
  tool,
  type Upstream,
  type UpstreamOptions,
  usage,
} from "../support/upstream.ts";

const WRITE = {
  type: "function",
  function: {
    name: "write_file",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
    },
  },
};
const ask = { model: "m", messages: [{ role: "user", content: "Write it." }], tools: [WRITE], max_tokens: 100 };
const ARGS = '{"path":"notes.md","content":"first line\\nsecond line, and \\"the\\" last"}';
/** Cut right behind a whole string: a brace would make it parse. */
const CUT = '{"path":"notes.md","content":"first line"';
/** Of about 680 tokens. */
const LONG = JSON.stringify({
  path: "long.md",
  content: Array.from({ length: 60 }, (_, at) => `line ${at} holds its own words ${at * 7919}\n`).join(""),
});
const call = (args: string, name = "write_file", id = "call_1", index = 0) => tool(index, { id, name }, args);
const cut = (tokens = 100): Script => [finish("length"), usage(20, tokens), done()];
const ended = (reason = "tool_calls"): Script => [finish(reason), usage(20, 40), done()];

describe("a tool call that is cut", () => {
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
  const stream = (body: JsonObject = ask) =>
    postStream(`${proxy.url}/chat/completions`, body, { "x-lastword-explain": "1" });
  const plain = (body: JsonObject = ask) =>
    postPlain(`${proxy.url}/chat/completions`, body, { "x-lastword-explain": "1" });
  const play = (...scripts: Script[]) => {
    for (const script of scripts) up.next(...script);
  };
  const strategies = () => asked().map(({ strategy }) => strategy);
  const asked = () => proxy.events.filter((event) => event.type === "attempt_started");

  describe("is asked again, whole", () => {
    beforeEach(() => start());

    it("edge 4: tool_calls with arguments that do not parse are a cut", async () => {
      play([call(CUT), ...ended()], [call(ARGS), ...ended()]);
      const got = await stream();
      expect(got.toolArgs()).toEqual([ARGS]);
      expect(got.finish()).toBe("tool_calls");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed" });
    });

    it("edge 5: length with arguments that are whole and valid is delivered, without a further pass", async () => {
      play([call(ARGS), ...cut()], [call(ARGS), ...cut()]);
      const got = await stream();
      expect(got.toolArgs()).toEqual([ARGS]);
      expect(got.finish()).toBe("tool_calls");
      expect(callsOf(await plain())).toEqual([ARGS]);
      expect(up.calls).toHaveLength(2);
      expect(await proxy.finished(2)).toMatchObject({ outcome: "complete" });
    });

    it("edge 77: text before it is delivered once, the call anew", async () => {
      play(
        [say("I will "), say("write it."), call(CUT), ...cut()],
        [say("I will write it now."), call(ARGS), ...ended()],
      );
      const got = await stream();
      expect(got.text()).toBe("I will write it.");
      expect(got.toolArgs()).toEqual([ARGS]);
      expect(idsOf(got)).toEqual(["call_1"]);
      expect(got.finish()).toBe("tool_calls");
    });

    it("edge 78: of two calls the second cut, both are asked again, one at a time, and the first alone is never delivered", async () => {
      const two: Script = [call(ARGS, "write_file", "a", 0), call(CUT, "write_file", "b", 1)];
      play([...two, ...cut()], [call(ARGS, "write_file", "c", 0), ...ended()]);
      const got = await stream();
      expect(got.toolArgs()).toEqual([ARGS]);
      expect(idsOf(got)).toEqual(["c"]);
      expect((await up.call(2)).body).toMatchObject({ parallel_tool_calls: false, max_tokens: 4096 });
    });

    it("a server that does not know parallel_tool_calls is not sent it again", async () => {
      const two: Script = [call(ARGS, "write_file", "a", 0), call(CUT, "write_file", "b", 1)];
      const message = "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.";
      const refusal = { error: { message, type: "invalid_request_error", param: "parallel_tool_calls", code: null } };
      play([...two, ...cut()], [status(400, refusal)], [call(ARGS), ...ended()]);
      expect((await stream()).toolArgs()).toEqual([ARGS]);
      play([...two, ...cut()], [call(ARGS), ...ended()]);
      expect((await stream()).toolArgs()).toEqual([ARGS]);
      const sent = up.calls.map(({ body }) => body.parallel_tool_calls);
      expect(sent).toEqual([undefined, false, undefined, undefined, undefined]);
    });

    it("edge 80: a turn asked again that answers with text or another tool is delivered, for nothing of the call was", async () => {
      play([call(CUT), ...cut()], [say("Never mind."), ...ended("stop")]);
      const text = await stream();
      expect(text.text()).toBe("Never mind.");
      expect(text.finish()).toBe("stop");
      play([call(CUT), ...cut()], [call('{"path":"x"}', "read_file", "r"), ...ended()]);
      const other = await stream();
      expect(other.toolArgs()).toEqual(['{"path":"x"}']);
      expect(idsOf(other)).toEqual(["r"]);
    });

    it("edge 82: text gone on with that turns to a call is delivered with that call", async () => {
      play([say("First, "), ...cut()], [say("a file:"), call(ARGS), ...ended()]);
      const got = await stream();
      expect(got.text()).toBe("First, a file:");
      expect(got.toolArgs()).toEqual([ARGS]);
      expect(got.finish()).toBe("tool_calls");
      expect(got.chunks.flatMap(indicesOf)).toEqual(expect.arrayContaining([0]));
      expect(new Set(got.chunks.flatMap(indicesOf))).toEqual(new Set([0]));
    });

    it("a call that was lost half-way is asked again as it was", async () => {
      play([call(CUT), eof()], [call(ARGS), ...ended()]);
      expect((await stream()).toolArgs()).toEqual([ARGS]);
      expect(strategies()).toEqual(["first", "retry"]);
      expect((await up.call(2)).body).toEqual((await up.call(1)).body);
    });

    it("B31, edge 79: arguments that a brace would make parse are never delivered closed", async () => {
      play([call(CUT), ...cut()], [call(ARGS), ...ended()]);
      const got = await plain();
      expect(callsOf(got)).toEqual([ARGS]);
      expect(finishOf(got)).toBe("tool_calls");
      expect(got.bytes.toString()).not.toContain(`${JSON.stringify(`${CUT}}`)}`);
    });

    it("B32: length with arguments that parse but lack a required field is a cut; the same with tool_calls is the model's own", async () => {
      const half = '{"path":"x.jac"}';
      play([call(half), ...cut()], [call(ARGS), ...ended()]);
      expect((await stream()).toolArgs()).toEqual([ARGS]);
      play([call(half), ...ended()]);
      const own = await stream();
      expect(own.toolArgs()).toEqual([half]);
      expect(own.finish()).toBe("tool_calls");
      expect(await proxy.finished(2)).toMatchObject({ outcome: "malformed" });
    });

    it("with repairMalformed, a call that lacks a required field is asked for once more, if nothing was shown", async () => {
      await proxy.close();
      await up.close();
      await start({ recovery: { repairMalformed: true } });
      play([call('{"path":"x"}'), ...ended()], [call(ARGS), ...ended()]);
      expect((await stream()).toolArgs()).toEqual([ARGS]);
      expect((await up.call(2)).body).toMatchObject({ max_tokens: 100, tools: [WRITE] });
      play([say("Text."), call('{"path":"x"}'), ...ended()]);
      expect((await stream()).toolArgs()).toEqual(['{"path":"x"}']);
      expect(await proxy.finished(2)).toMatchObject({ outcome: "malformed" });
    });

    it("B33: arguments that are not whole are not replaced; none at all are passed as they came", async () => {
      play([call('{"path":"notes.md","content":"first li'), ...cut()], [call(ARGS), ...ended()]);
      expect(callsOf(await plain())).toEqual([ARGS]);
      play([call("", "list_files"), ...ended()]);
      expect(callsOf(await plain())).toEqual([""]);
    });

    it("B37: pieces of two calls are never put together", async () => {
      play(
        [call('{"path":"a.txt","content":"abc'), ...cut()],
        [call('{"path":"a.txt","content":"abcdef"}', "write_file", "call_2"), ...ended()],
      );
      const got = await stream();
      expect(got.toolArgs()).toEqual(['{"path":"a.txt","content":"abcdef"}']);
      expect(idsOf(got)).toEqual(["call_2"]);
    });

    it("reports what was delivered, and bills what was generated", async () => {
      play([say("Text."), call(CUT), ...cut()], [say("Text."), call(ARGS), ...ended()]);
      const got = await stream({ ...ask, stream_options: { include_usage: true } });
      const lastword = lastwordOf(got);
      expect(lastword).toMatchObject({ billed: { prompt_tokens: 40, completion_tokens: 140 } });
      const told = asObject(got.chunks.findLast((chunk) => asObject(chunk.usage) !== undefined)?.usage);
      expect(told?.prompt_tokens).toBe(20);
      expect(told?.completion_tokens).toBeLessThan(60);
    });
  });

  describe("and cut again", () => {
    const loop: Script = [say("I will write it."), call(CUT), finish("length"), usage(20, 4000), done()];

    it("B34: ends with the text, no call and length, streamed and plain", async () => {
      await start({ recovery: { maxAttempts: 1 } });
      play(loop, loop);
      const got = await stream({ ...ask, stream_options: { include_usage: true } });
      expect(got.status).toBe(200);
      expect(got.text()).toBe("I will write it.");
      expect(got.toolArgs()).toEqual([]);
      expect(got.finish()).toBe("length");
      expect(got.ended).toBe(true);
      expect(got.chunks.some((chunk) => asObject(chunk.usage) !== undefined)).toBe(true);
      const whole = await plain();
      expect(messageOf(whole)).toEqual({ role: "assistant", content: "I will write it." });
      expect(finishOf(whole)).toBe("length");
      expect(await proxy.finished(2)).toMatchObject({ outcome: "cut_off", code: "output_cap_exhausted" });
    });

    it("B35: no arguments that do not parse ever leave, whatever the end", async () => {
      await start({ recovery: { maxAttempts: 2 } });
      for (const reason of ["length", "tool_calls", "stop", "content_filter", "eos"]) {
        up.handle(() => [call(CUT), finish(reason), usage(20, 50), done()]);
        expect((await stream()).toolArgs()).toEqual([]);
        expect(callsOf(await plain())).toEqual([]);
      }
    });

    it("B35: a broken call in the history goes on once, and its refusal is relayed", async () => {
      await start();
      const error = { message: "invalid tool arguments JSON", type: "invalid_request_error", code: null };
      play([status(400, { error })]);
      const broken = {
        role: "assistant",
        tool_calls: [{ id: "x", type: "function", function: { name: "write_file", arguments: '{"path":"a' } }],
      };
      const got = await plain({
        ...ask,
        messages: [...ask.messages, broken, { role: "tool", tool_call_id: "x", content: "" }],
      });
      expect(got.status).toBe(400);
      expect(got.json).toEqual({ error });
      expect(up.calls).toHaveLength(1);
    });

    it("B36: no request is sent twice unchanged, and the bound holds", async () => {
      await start({ recovery: { maxParts: 3 } });
      up.handle(() => loop);
      const got = await stream({ ...ask, temperature: 0 });
      expect(got.finish()).toBe("length");
      expect(got.toolArgs()).toEqual([]);
      const bodies = up.calls.map(({ bytes }) => bytes.toString());
      expect(new Set(bodies).size).toBe(bodies.length);
      expect(bodies.length).toBeLessThanOrEqual(4 + 3);
      const { billedCompletionTokens } = await proxy.finished();
      expect(billedCompletionTokens).toBeGreaterThanOrEqual(4000 * 3);
    });

    it("with onExhausted: error is a typed error that names the ceiling of each attempt, and no SDK repeats it", async () => {
      await start({ recovery: { maxAttempts: 2, onExhausted: "error" } });
      play([call(CUT), ...cut()], [call(CUT), finish("length"), usage(20, 150), done()]);
      const got = await plain();
      expect(got.status).toBe(502);
      expect(got.headers["x-should-retry"]).toBe("false");
      expect(asObject(got.json?.error)).toMatchObject({
        type: "upstream_error",
        code: "output_cap_exhausted",
        lastword: { attempts: 2, ceilings: [100, 150], causes: ["reply_cap", "provider_cap"] },
      });
      play([say("Text."), call(CUT), ...cut()], [say("Text."), call(CUT), finish("length"), usage(20, 150), done()]);
      const streamed = await stream();
      expect(streamed.finish()).toBeNull();
      expect(asObject(streamed.chunks.at(-1)?.error)).toMatchObject({ code: "output_cap_exhausted" });
      expect(streamed.ended).toBe(true);
    });
  });

  describe("that no cap of the provider can hold", () => {
    const recital = { tools: [{ name: "write_file", args: LONG, id: "call_l" }] };

    for (const dialect of ["openai", "generic", "lmstudio", "ollama"] as const) {
      it(`arrives whole, carried on as text, at a third of its length: ${dialect}`, async () => {
        await start({}, { dialect });
        up.handle(recite(recital, { providerCap: 220, nudge: nudges.anchor }));
        const got = await stream();
        expect(got.toolArgs()).toEqual([LONG]);
        expect(got.finish()).toBe("tool_calls");
        expect(callsOf(await plain())).toEqual([LONG]);
        expect(strategies().filter((strategy) => strategy === "parts").length).toBeGreaterThanOrEqual(4);
        const part = up.calls.find(({ body }) => body.tool_choice === "none");
        expect(part?.body.tools).toEqual([WRITE]);
      });
    }

    it("arrives whole on the other wires too", async () => {
      await start({}, { dialect: "openrouter" });
      up.handle(recite(recital, { providerCap: 220, nudge: nudges.anchor }));
      const { name, parameters } = WRITE.function;
      const responses = {
        model: "m",
        input: "Write it.",
        tools: [{ type: "function", name, parameters }],
        max_output_tokens: 100,
      };
      const streamed = await postStream(`${proxy.url}/responses`, responses);
      expect(streamed.toolArgs()).toEqual([LONG]);
      expect(streamed.finish()).toBe("completed");
      const plain = await postPlain(`${proxy.url}/responses`, responses);
      expect(asArray(plain.json?.output).map((item) => asObject(item)?.arguments)).toEqual([LONG]);

      const anthropic = {
        model: "m",
        messages: ask.messages,
        tools: [{ name, input_schema: parameters }],
        tool_choice: { type: "any", disable_parallel_tool_use: true },
        max_tokens: 100,
      };
      const told = await postStream(`${proxy.url}/messages`, anthropic);
      expect(told.toolArgs()).toEqual([LONG]);
      expect(told.finish()).toBe("tool_use");
      const part = up.calls.at(-1)?.body;
      expect(part?.tool_choice).toEqual({ type: "none" });
      expect(strategies().filter((strategy) => strategy === "parts").length).toBeGreaterThanOrEqual(6);
    });

    it.each<[string, (partial: string, order: string, rest: string) => string]>([
      ["goes straight on", nudges.exact],
      ["repeats its last word", nudges.repeatWord],
      ["announces it", (...said) => `Here is the rest:\n${nudges.anchor(...said)}`],
      ["sets it in a fence", (...said) => `\`\`\`json\n${nudges.anchor(...said)}\n\`\`\``],
      ["does both", (...said) => `Sure.\n\n\`\`\`json\n${nudges.anchor(...said)}\n\`\`\``],
      ["speaks on behind it", (...said) => `${nudges.anchor(...said)}\n\nLet me know if you need more.`],
    ])("from a model that %s", async (_name, nudge) => {
      await start({}, { dialect: "generic" });
      up.handle(recite(recital, { providerCap: 220, nudge }));
      const got = await stream();
      expect(got.toolArgs()).toEqual([LONG]);
      expect(got.finish()).toBe("tool_calls");
    });

    it("a model that says all of it again comes no further, and makes no call", async () => {
      await start({}, { dialect: "generic" });
      up.handle(recite(recital, { providerCap: 220, nudge: nudges.restart }));
      const got = await stream();
      expect(got.toolArgs()).toEqual([]);
      expect(got.finish()).toBe("length");
    });

    it("in the template's own syntax, on a server that renders it", async () => {
      await start({}, { dialect: "llamacpp" });
      up.on("POST /apply-template", (query) => ({ json: { prompt: hermes(query.body) } }));
      const prompts: string[] = [];
      up.handle((made) => {
        if (made.wire !== "completions") return [call(LONG.slice(0, 700)), finish("length"), usage(20, 175), done()];
        const prompt = asString(made.body.prompt) ?? "";
        prompts.push(prompt);
        const given = prompt.slice(prompt.lastIndexOf('"arguments": ') + 13);
        const rest = `${LONG.slice(given.length)}}\n</tool_call>`;
        return rest.length > 700
          ? [say(rest.slice(0, 700)), finish("length"), usage(200, 175), done()]
          : [say(rest), finish("stop"), usage(300, 90), done()];
      });
      const got = await stream();
      expect(got.toolArgs()).toEqual([LONG]);
      expect(got.finish()).toBe("tool_calls");
      expect(got.text()).toBe("");
      expect(prompts[0]).toBe(
        `<|im_start|>user\nWrite it.<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{"name": "write_file", "arguments": ${LONG.slice(0, 700)}`,
      );
      expect(strategies()).toEqual(["first", "reask", "parts", "parts", "parts"].slice(0, strategies().length));
      expect(callsOf(await plain())).toEqual([LONG]);
    });

    it("is carried on as text where the template shows no calls, or the completion endpoint refuses", async () => {
      await start({}, { dialect: "llamacpp" });
      up.handle(recite(recital, { providerCap: 220, nudge: nudges.anchor }));
      up.on("POST /apply-template", () => ({ status: 500, json: { error: { message: "no such filter" } } }));
      expect((await stream()).toolArgs()).toEqual([LONG]);
      up.on("POST /apply-template", (query) => ({ json: { prompt: hermes(query.body) } }));
      up.on("POST /v1/completions", () => ({ status: 400, json: { error: { message: "not here" } } }));
      expect((await stream()).toolArgs()).toEqual([LONG]);
      expect(asked().every(({ strategy }) => ["first", "reask", "parts"].includes(strategy))).toBe(true);
    });

    it("a server that calls tools although it was told not to is shown none, then and later", async () => {
      await start({}, { dialect: "generic" });
      const model = recite(recital, { providerCap: 220, nudge: nudges.anchor });
      up.handle((made, n) => model({ ...made, body: { ...made.body, tool_choice: undefined } }, n));
      for (const times of [1, 0]) {
        const before = up.calls.length;
        const got = await stream();
        expect(got.toolArgs()).toEqual([LONG]);
        const told = up.calls.slice(before).filter(({ body }) => body.tool_choice === "none");
        expect(told).toHaveLength(times);
      }
    });

    it("what is carried on must satisfy the tool's schema, or nothing is delivered", async () => {
      await start({}, { dialect: "generic" });
      const wrong = '{"path":"long.md","body":"and so on and so forth';
      const first: Script = [call(wrong), finish("length"), usage(20, 90), done()];
      up.handle((made) =>
        made.body.tool_choice === "none"
          ? [say('forth and so it ends."}'), finish("stop"), usage(30, 9), done()]
          : first,
      );
      const got = await stream({ ...ask, max_tokens: 4096 });
      expect(got.toolArgs()).toEqual([]);
      expect(got.finish()).toBe("length");
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
    });

    it("the longer arguments are kept, and the last resort is a hint to make the call smaller", async () => {
      await start({ recovery: { maxParts: 1 } }, { dialect: "generic" });
      const small = JSON.stringify({ path: "long.md", content: "line 0" });
      up.handle((made) => {
        if (JSON.stringify(made.body.messages).includes("smaller pieces")) return [call(small), ...ended()];
        if (made.body.tool_choice === "none") return [say("I cannot."), finish("stop"), usage(30, 9), done()];
        return [
          call(LONG.slice(0, made.n === 1 ? 300 : 900)),
          finish("length"),
          usage(20, made.n === 1 ? 100 : 150),
          done(),
        ];
      });
      const got = await stream();
      expect(got.toolArgs()).toEqual([small]);
      expect(got.finish()).toBe("tool_calls");
      expect(strategies()).toEqual(["first", "reask", "parts", "reask"]);
      const shown = asArray((await up.call(3)).body.messages).map(
        (message) => asString(asObject(message)?.content) ?? "",
      );
      expect(shown[1]?.length).toBeGreaterThan(800);
      expect(LONG.startsWith(shown[1] ?? "?")).toBe(true);
      const hinted = asArray((await up.call(4)).body.messages);
      expect(hinted).toHaveLength(1);
    });
  });

  describe("with toolCalls: stream", () => {
    beforeEach(() => start({ recovery: { toolCalls: "stream" } }));

    it("is only ever extended", async () => {
      const shown = ARGS.slice(0, 40);
      play([call(shown), ...cut()], [call(ARGS, "write_file", "call_2"), ...ended()]);
      const got = await stream();
      expect(got.toolArgs()).toEqual([ARGS]);
      expect(idsOf(got)).toEqual(["call_1"]);
      expect(got.finish()).toBe("tool_calls");
      expect(await proxy.finished()).toMatchObject({ outcome: "healed" });
    });

    it("edge 5: length with a whole call in the very chunk of its end is delivered whole", async () => {
      play([call(ARGS.slice(0, 30)), tool(0, {}, ARGS.slice(30)), ...cut()]);
      const got = await stream();
      expect(got.toolArgs()).toEqual([ARGS]);
      expect(got.finish()).toBe("tool_calls");
    });

    it("edge 81: arguments that differ from those that were shown end it with length", async () => {
      play([call(CUT), ...cut()], [call('{"path":"other.md","content":"x"}'), ...ended()]);
      const got = await stream();
      expect(got.toolArgs()).toEqual([CUT]);
      expect(got.finish()).toBe("length");
      expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
    });

    it("edge 80: another tool, or text, ends it with length too", async () => {
      for (const other of [call(ARGS, "read_file"), say("Never mind.")]) {
        play([call(CUT), ...cut()], [other, ...ended("stop")]);
        const got = await stream();
        expect(got.toolArgs()).toEqual([CUT]);
        expect(got.text()).toBe("");
        expect(got.finish()).toBe("length");
      }
    });

    it("is only ever extended on the other wires too", async () => {
      const { name, parameters } = WRITE.function;
      up.handle(recite({ tools: [{ name, args: LONG }] }));
      const responses = await postStream(`${proxy.url}/responses`, {
        model: "m",
        input: "Write it.",
        tools: [{ type: "function", name, parameters }],
        max_output_tokens: 100,
      });
      expect(responses.toolArgs()).toEqual([LONG]);
      expect(responses.finish()).toBe("completed");
      const told = await postStream(`${proxy.url}/messages`, {
        model: "m",
        messages: ask.messages,
        tools: [{ name, input_schema: parameters }],
        max_tokens: 100,
      });
      expect(told.toolArgs()).toEqual([LONG]);
      expect(told.finish()).toBe("tool_use");
      const begun = told.events.filter(({ event }) => event === "content_block_start");
      expect(begun).toHaveLength(1);
    });

    it("is carried on in parts", async () => {
      up.handle(recite({ tools: [{ name: "write_file", args: LONG }] }, { providerCap: 220, nudge: nudges.anchor }));
      const got = await stream();
      expect(got.finish()).toBe("tool_calls");
      expect(got.toolArgs()).toEqual([LONG]);
      expect(strategies()).toContain("parts");
    });
  });
});

/** A template that writes calls as many do. */
function hermes(body: JsonObject): string {
  let prompt = "";
  for (const value of asArray(body.messages)) {
    const message = asObject(value) ?? {};
    prompt += `<|im_start|>${message.role}\n${asString(message.content) ?? ""}`;
    for (const each of asArray(message.tool_calls)) {
      const made = asObject(asObject(each)?.function);
      prompt += `<tool_call>\n{"name": "${made?.name}", "arguments": ${made?.arguments}}\n</tool_call>`;
    }
    prompt += "<|im_end|>\n";
  }
  return `${prompt}<|im_start|>assistant\n`;
}

function choiceOf({ json }: Plain): JsonObject {
  return asObject(asArray(json?.choices)[0]) ?? {};
}

const finishOf = (plain: Plain) => choiceOf(plain).finish_reason;
const messageOf = (plain: Plain) => asObject(choiceOf(plain).message);

function callsOf(plain: Plain): string[] {
  return asArray(messageOf(plain)?.tool_calls).map(
    (made) => asString(asObject(asObject(made)?.function)?.arguments) ?? "none",
  );
}

function deltasOf(chunk: JsonObject): JsonObject[] {
  return asArray(asObject(asObject(asArray(chunk.choices)[0])?.delta)?.tool_calls).map((made) => asObject(made) ?? {});
}

const indicesOf = (chunk: JsonObject) => deltasOf(chunk).map(({ index }) => index);
const idsOf = (got: Streamed) => got.chunks.flatMap(deltasOf).flatMap(({ id }) => (id === undefined ? [] : [id]));
const lastwordOf = (got: Streamed) => got.chunks.findLast((chunk) => chunk.lastword !== undefined)?.lastword;
