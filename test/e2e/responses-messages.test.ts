import { describe, expect, it } from "vitest";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { postPlain, postStream } from "../support/client.ts";
import { type ProxyOptions, startProxy } from "../support/proxy.ts";
import {
  done,
  drop,
  eof,
  event,
  finish,
  recite,
  reply,
  type Script,
  say,
  startUpstream,
  status,
  think,
  tool,
  usage,
} from "../support/upstream.ts";
import { hear } from "../wire/responses/hear.ts";

const input = "Where is the lamp?";
const messages = [{ role: "user", content: input }];
const responses: JsonObject = { model: "m", input };
const ask: JsonObject = { model: "m", messages, max_tokens: 900 };

async function stage(dialect: DialectName = "generic", options: ProxyOptions = {}) {
  const up = await startUpstream({ dialect, window: 32_768 });
  const proxy = await startProxy(up, options);
  return {
    up,
    proxy,
    stream: (path: string, body: JsonObject) => postStream(proxy.url + path, body),
    plain: (path: string, body: JsonObject) => postPlain(proxy.url + path, body),
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await up.close();
    },
  };
}

const never: ProxyOptions = { models: [{ match: "*", continue: "never" }] };

describe("class 14", () => {
  it("B99: a cut that cannot be mended is told as incomplete, streamed and plain, with what there is", async () => {
    await using on = await stage("generic", never);
    on.up.handle(() => [think("Hm, the lamp."), say("The lamp is"), finish("length"), usage(9, 100), done()]);
    const body = { ...responses, max_output_tokens: 100 };
    const told = {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ type: "reasoning" }, { type: "message", content: [{ text: "The lamp is" }] }],
      lastword: { outcome: "cut_off", cause: "reply_cap" },
    };
    const { chunks, events } = await on.stream("/responses", body);
    expect(events.at(-1)?.event).toBe("response.incomplete");
    expect(chunks.at(-1)?.response).toMatchObject(told);
    expect((await on.plain("/responses", body)).json).toMatchObject(told);
  });

  it.each<[string, DialectName, Script]>([
    ["by the event's own word", "generic", [say("The lamp stands on the "), finish("length"), usage(9, 100), done()]],
    ["hidden in a `completed`", "llamacpp", [say("The lamp stands on the "), finish("length"), usage(9, 100), done()]],
    [
      "inside an event that says `completed`",
      "generic",
      [
        say("The lamp stands on the "),
        event(
          {
            type: "response.completed",
            sequence_number: 5,
            response: {
              id: "resp_1",
              object: "response",
              status: "incomplete",
              incomplete_details: { reason: "max_output_tokens" },
              output: [],
              usage: { input_tokens: 9, output_tokens: 100 },
            },
          },
          "response.completed",
        ),
      ],
    ],
  ])("B99: a cut that is told %s is mended, and completed is then true", async (_name, dialect, script) => {
    await using on = await stage(dialect);
    on.up.next(...script);
    on.up.handle(recite("The lamp stands on the window sill, behind the blue curtain."));
    const got = await on.stream("/responses", { ...responses, max_output_tokens: 100 });
    expect([got.text(), got.finish()]).toEqual([
      "The lamp stands on the window sill, behind the blue curtain.",
      "completed",
    ]);
    expect(await on.proxy.finished()).toMatchObject({ outcome: "healed" });
  });

  it("B100: a response that is all thought is a cut, not an error; half a call is not told as one", async () => {
    await using on = await stage("generic", never);
    on.up.handle(() => [think("Hm, the lamp."), finish("length"), usage(9, 100), done()]);
    const thought = await on.plain("/responses", { ...responses, max_output_tokens: 100 });
    expect([thought.status, thought.json]).toMatchObject([
      200,
      { status: "incomplete", output: [{ type: "reasoning" }] },
    ]);
    on.up.handle(() => [
      tool(0, { id: "c1", name: "look" }, '{"at":"the wind'),
      finish("length"),
      usage(9, 100),
      done(),
    ]);
    const body = {
      ...responses,
      max_output_tokens: 100,
      tools: [{ type: "function", name: "look", parameters: { type: "object" } }],
    };
    for (const got of [await on.stream("/responses", body), await on.plain("/responses", body)]) {
      expect(got.status).toBe(200);
      expect(got.bytes.toString()).not.toContain("the wind");
      expect(got.bytes.toString()).toContain('"incomplete"');
    }
  });

  it.each([
    ["end_turn", "complete", 1],
    ["stop_sequence", "complete", 1],
    ["max_tokens", "healed", 2],
    ["model_context_window_exceeded", "cut_off", 1],
    ["pause_turn", "complete", 1],
    ["refusal", "complete", 1],
    ["tool_use", "complete", 1],
    ["future_reason", "complete", 1],
  ] as const)("B101: %s is %s", async (reason, outcome, calls) => {
    await using on = await stage("llamacpp");
    for (const post of [on.stream, on.plain]) {
      on.up.next(
        say("The lamp stands on the "),
        finish(reason),
        usage(9, 900),
        event({ type: "message_stop" }, "message_stop"),
      );
      on.up.handle(recite("The lamp stands on the window sill."));
      const before = on.up.calls.length;
      const got = await post("/messages", ask);
      expect(on.up.calls.length - before).toBe(calls);
      const told = reason === "max_tokens" ? "end_turn" : reason;
      expect(got.bytes.toString()).toContain(`"stop_reason":"${told}"`);
    }
    const ends = on.proxy.events.filter((one) => one.type === "finished");
    expect(ends.map((end) => end.outcome)).toEqual([outcome, outcome]);
  });

  const created = {
    type: "response.created",
    sequence_number: 0,
    response: { id: "resp_1", object: "response", status: "in_progress", output: [] },
  };

  it("B102: a stream that ends without its terminal event is gone on with, or told as cut: one terminal event", async () => {
    await using on = await stage();
    on.up.next(say("abc"), eof());
    on.up.handle(() => [drop()]);
    const got = await on.stream("/responses", responses);
    expect(got.text()).toBe("abc");
    const terminal = got.events.filter(({ event }) => /^response\.(?:completed|incomplete|failed)$/.test(event));
    expect(terminal.map(({ event }) => event)).toEqual(["response.incomplete"]);
    expect(await on.proxy.finished()).toMatchObject({ outcome: "cut_off", cause: "upstream_broken" });
  });

  it("B102: a call before the end of a broken stream is not told as a finished turn", async () => {
    await using on = await stage();
    on.up.handle(() => [tool(0, { id: "c1", name: "look" }, '{"at":1}'), eof()]);
    const body = { ...responses, tools: [{ type: "function", name: "look", parameters: { type: "object" } }] };
    const got = await on.stream("/responses", body);
    expect(got.bytes.toString()).not.toContain("response.completed");
    expect(await on.proxy.finished()).toMatchObject({ outcome: expect.stringMatching(/cut_off|failed/) });
  });

  it("B102: a stream that only began is a typed 502, while that can be said", async () => {
    await using on = await stage();
    on.up.handle(() => [event(created, "response.created"), eof()]);
    const got = await on.stream("/responses", responses);
    expect(got.status).toBe(502);
    expect(JSON.parse(got.bytes.toString())).toMatchObject({ error: { code: "upstream_protocol_error" } });
  });

  it("B103: usage that Messages tells twice is counted once", async () => {
    await using on = await stage("llamacpp");
    const told = (type: string, more: JsonObject) => event({ type, ...more }, type);
    on.up.handle(() => [
      told("message_start", {
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          usage: { input_tokens: 27, output_tokens: 1 },
        },
      }),
      told("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      told("content_block_delta", { index: 0, delta: { type: "text_delta", text: "hi" } }),
      told("content_block_stop", { index: 0 }),
      told("message_delta", {
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { input_tokens: 27, cache_read_input_tokens: 5, output_tokens: 47 },
      }),
      told("message_stop", {}),
    ]);
    expect((await on.stream("/messages", ask)).text()).toBe("hi");
    expect(await on.proxy.finished()).toMatchObject({ promptTokens: 32, completionTokens: 47 });
  });

  it("B104: a response that a filter ended is passed on as that, and nothing is asked again", async () => {
    await using on = await stage();
    for (const post of [on.stream, on.plain]) {
      on.up.next(say("The lamp"), finish("content_filter"), usage(9, 100), done());
      const got = await post("/responses", { ...responses, max_output_tokens: 100 });
      expect(got.bytes.toString()).toContain('"incomplete_details":{"reason":"content_filter"}');
    }
    expect(on.up.calls).toHaveLength(2);
    expect(await on.proxy.finished()).toMatchObject({ outcome: "complete" });
  });

  it("B105: an oversized cap on Messages is lowered before anybody is asked, and cached prompts teach nothing wrong", async () => {
    const window = 200_000;
    await using on = await stage("generic", { models: [{ match: "*", window }] });
    const prompt = 73_470;
    on.up.handle(({ body }) =>
      prompt + Number(body.max_tokens) > window
        ? [
            status(400, {
              type: "error",
              error: { type: "invalid_request_error", message: "[1261][prompt is too long]" },
            }),
          ]
        : reply("It is on the sill.", "stop", { prompt, completion: 6, cached: prompt - 2 }),
    );
    const long = { ...ask, messages: [{ role: "user", content: "word ".repeat(prompt - 30) }], max_tokens: 131_072 };
    for (let i = 0; i < 3; i++) {
      const { status: code, headers } = await on.plain("/messages", long);
      expect(code).toBe(200);
      expect(Number(headers["x-lastword-prompt-tokens"])).toBeGreaterThan(prompt * 0.8);
      const sent = Number(/^asked=131072;sent=(\d+);reason=room$/.exec(String(headers["x-lastword-cap"]))?.[1]);
      expect(sent).toBeGreaterThan(window / 4);
      expect(sent).toBeLessThanOrEqual(window - prompt);
    }
    expect(on.up.calls).toHaveLength(3);
    on.up.handle(() => [
      status(400, { type: "error", error: { type: "invalid_request_error", message: "no such thing" } }),
    ]);
    const refused = await on.plain("/messages", ask);
    expect([refused.status, refused.json]).toMatchObject([400, { type: "error", error: { message: "no such thing" } }]);
  });
});

describe("what these wires have beside text", () => {
  it("a tool whose input is plain text is called with plain text", async () => {
    await using on = await stage();
    const patch = "*** Begin Patch\n*** Update File: lamp.txt\n*** End Patch";
    const item = {
      id: "ctc_1",
      type: "custom_tool_call",
      call_id: "call_1",
      name: "apply_patch",
      input: patch,
      status: "completed",
    };
    const told = (n: number, type: string, more: JsonObject) => event({ type, sequence_number: n, ...more }, type);
    const response = {
      id: "resp_1",
      object: "response",
      status: "completed",
      output: [item],
      usage: { input_tokens: 9, output_tokens: 20 },
    };
    on.up.next(
      event(
        JSON.parse(
          '{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}',
        ) as JsonObject,
        "response.created",
      ),
      told(1, "response.output_item.added", { output_index: 0, item: { ...item, input: "", status: "in_progress" } }),
      told(2, "response.custom_tool_call_input.delta", { output_index: 0, item_id: "ctc_1", delta: patch }),
      told(3, "response.custom_tool_call_input.done", { output_index: 0, item_id: "ctc_1", input: patch }),
      told(4, "response.output_item.done", { output_index: 0, item }),
      told(5, "response.completed", { response }),
    );
    const tools = [{ type: "custom", name: "apply_patch" }];
    const got = await on.stream("/responses", { ...responses, tools, max_output_tokens: 100 });
    expect(asObject(asArray(asObject(got.chunks.at(-1)?.response)?.output)[0])?.input).toBe(patch);
    expect(await on.proxy.finished()).toMatchObject({ outcome: "complete" });
  });

  /** A pass of a model whose reasoning is sealed: the summary in pieces, then the item, then a call. */
  const sealed = (n: number, args: string, whole: boolean): Script => {
    const reasoning = { id: `rs_${n}`, type: "reasoning", summary: [] as JsonObject[] };
    const summary = { type: "summary_text", text: `Thought ${n}.` };
    const sealedItem = { ...reasoning, summary: [summary], encrypted_content: `sealed-${n}` };
    const call = {
      id: `fc_${n}`,
      type: "function_call",
      call_id: `call_${n}`,
      name: "look",
      arguments: "",
      status: "in_progress",
    };
    const called = { ...call, arguments: args, status: whole ? "completed" : "incomplete" };
    const response = { id: `resp_${n}`, object: "response", output: [] as JsonObject[] };
    const usage = { input_tokens: 9, output_tokens: whole ? 40 : 100 };
    let sequence = 0;
    const told = (type: string, more: JsonObject) => event({ type, sequence_number: sequence++, ...more }, type);
    const status = whole ? "completed" : "incomplete";
    const reason = whole ? null : { reason: "max_output_tokens" };
    const at = { output_index: 0, item_id: reasoning.id, summary_index: 0 };
    return [
      told("response.created", { response: { ...response, status: "in_progress" } }),
      told("response.output_item.added", { output_index: 0, item: reasoning }),
      told("response.reasoning_summary_part.added", { ...at, part: { ...summary, text: "" } }),
      told("response.reasoning_summary_text.delta", { ...at, delta: summary.text }),
      told("response.reasoning_summary_text.done", { ...at, text: summary.text }),
      told("response.reasoning_summary_part.done", { ...at, part: summary }),
      ...(whole ? [told("response.output_item.done", { output_index: 0, item: sealedItem })] : []),
      told("response.output_item.added", { output_index: 1, item: call }),
      told("response.function_call_arguments.delta", { output_index: 1, item_id: call.id, delta: args }),
      told("response.function_call_arguments.done", { output_index: 1, item_id: call.id, arguments: args }),
      told("response.output_item.done", { output_index: 1, item: called }),
      told(`response.${status}`, {
        response: { ...response, status, incomplete_details: reason, output: [sealedItem, called], usage },
      }),
    ];
  };

  it("edge 93: a call that was asked again comes with the sealed reasoning that belongs to it", async () => {
    await using on = await stage();
    on.up.next(...sealed(1, '{"at":"the wind', false));
    on.up.next(...sealed(2, '{"at":"the window"}', true));
    const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
    const include = ["reasoning.encrypted_content"];
    const got = await on.stream("/responses", { ...responses, tools, include, store: false, max_output_tokens: 100 });
    expect(got.finish()).toBe("completed");
    const response = hear(got.chunks);
    expect(response.output).toMatchObject([
      { id: "rs_1", type: "reasoning", summary: [{ text: "Thought 1." }] },
      { id: "rs_2", type: "reasoning", encrypted_content: "sealed-2" },
      { type: "function_call", name: "look", arguments: '{"at":"the window"}' },
    ]);
    // What was cut is sealed by nobody.
    expect(got.bytes.toString()).not.toContain("sealed-1");
    expect(await on.proxy.finished()).toMatchObject({ outcome: "healed" });
  });
});
