import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Finish, Part } from "../../../src/core/part.ts";
import { emptyReply, type Reply, take } from "../../../src/core/reply.ts";
import { chat } from "../../../src/wire/chat/chat.ts";
import type { Ending, Frame, Report, Voice } from "../../../src/wire/wire.ts";

const text = (words: string): Part => ({ kind: "text", block: 0, text: words });
const reasoning = (words: string): Part => ({ kind: "reasoning", block: 0, text: words });
const tool = (block: number, id: string, name: string, args: string): Part => ({ kind: "tool", block, id, name, args });

const STOP: Finish = { kind: "done", raw: "stop" };
const CUT: Report = { outcome: "cut_off", cause: "reply_cap", code: null, warnings: [], full: null };

function replied(...parts: Part[]): Reply {
  const reply = emptyReply();
  for (const part of parts) take(reply, part);
  return reply;
}

const ending = (more: Partial<Ending> = {}): Ending => ({
  finish: STOP,
  reply: emptyReply(),
  usage: null,
  tail: [],
  report: null,
  ...more,
});

function speaker(more: JsonObject = {}): Voice {
  return chat.voice(chat.read({ model: "asked", messages: [], stream: true, ...more }));
}

/** A chunk of the first pass, of LM Studio's shape. */
const first = (delta: JsonObject, more: JsonObject = {}): Frame => chunk("chatcmpl-1", "qwen3-8b", delta, more);
/** A chunk of the second pass, from elsewhere. */
const second = (delta: JsonObject, more: JsonObject = {}): Frame => chunk("chatcmpl-2", "other", delta, more);

function chunk(id: string, model: string, delta: JsonObject, more: JsonObject): Frame {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }];
  const json = { id, object: "chat.completion.chunk", created: id.endsWith("1") ? 1 : 2, model, choices };
  return chat.frame("", JSON.stringify(json));
}

const tailOf = (...data: (string | JsonObject)[]) =>
  data.map((one) => chat.frame("", typeof one === "string" ? one : JSON.stringify(one)));

function read(stream: string): JsonObject[] {
  const data = stream.split("\n").filter((line) => line.startsWith("data: {"));
  return data.map((line) => JSON.parse(line.slice("data: ".length)));
}

describe("edge 62: a healed stream is one reply", () => {
  test("one id, one role, one finish, one usage, one end", () => {
    const voice = speaker({ stream_options: { include_usage: true } });
    voice.passed(first({ role: "assistant", content: "" }));
    voice.passed(first({ content: "Once upon" }));
    const usage = {
      prompt_tokens: 90,
      completion_tokens: 8,
      total_tokens: 98,
      prompt_tokens_details: { cached_tokens: 80 },
    };
    const tail = tailOf(
      { id: "chatcmpl-2", created: 2, model: "other", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { id: "chatcmpl-2", created: 2, model: "other", choices: [], usage },
      "[DONE]",
    );
    const said = [
      voice.say([text(" a time")], second({ role: "assistant", content: "upon a time" })),
      voice.say([text(".")], second({ role: "assistant", content: "." })),
      voice.finish(ending({ tail, usage: { prompt: 10, completion: 20, reasoning: null, raw: usage } })),
    ].join("");
    expect(said).toMatchInlineSnapshot(`
      "data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{"content":" a time"},"logprobs":null,"finish_reason":null}]}

      data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{"content":"."},"logprobs":null,"finish_reason":null}]}

      data: {"id":"chatcmpl-1","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"object":"chat.completion.chunk"}

      data: {"id":"chatcmpl-1","created":1,"model":"qwen3-8b","choices":[],"object":"chat.completion.chunk","usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,"prompt_tokens_details":{"cached_tokens":80}}}

      data: [DONE]

      "
    `);
  });

  test("edge 63, B66: no usage for a client that did not ask for it", () => {
    const voice = speaker({ stream_options: { include_usage: false } });
    voice.passed(first({ content: "a" }));
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    const tail = tailOf({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }, "[DONE]");
    expect(
      voice.finish(ending({ tail, usage: { prompt: 1, completion: 2, reasoning: null, raw: usage } })),
    ).toMatchInlineSnapshot(`
      "data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"object":"chat.completion.chunk","id":"chatcmpl-1","created":1,"model":"qwen3-8b"}

      data: [DONE]

      "
    `);
  });

  test("B65, B26: usage beside the finish becomes one chunk of its own, a second finish is not told", () => {
    const voice = speaker({ stream_options: { include_usage: true } });
    voice.passed(first({ content: "a" }));
    const usage = {
      prompt_tokens: 1,
      completion_tokens: 2,
      completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 0 },
    };
    const tail = tailOf(
      {
        id: "x",
        choices: [{ index: 0, delta: { content: "end" }, finish_reason: "length" }],
        usage,
        timings: { prompt_n: 1 },
      },
      { id: "x", choices: [{ index: 0, delta: {}, finish_reason: "length" }] },
      "[DONE]",
    );
    const joined = { prompt: 1, completion: 12, reasoning: 7, raw: usage };
    expect(
      voice.finish(ending({ tail, finish: { kind: "cap", raw: "length" }, usage: joined })),
    ).toMatchInlineSnapshot(`
      "data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"length"}],"timings":{"prompt_n":1},"object":"chat.completion.chunk","created":1,"model":"qwen3-8b"}

      data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":12,"completion_tokens_details":{"reasoning_tokens":7,"audio_tokens":0},"total_tokens":13}}

      data: [DONE]

      "
    `);
  });

  test("unknown fields of a later pass survive, what was only of that pass does not", () => {
    const voice = speaker();
    voice.passed(first({ content: "a" }));
    const json = {
      id: "gen-2",
      provider: "Elsewhere",
      object: "chat.completion.chunk",
      created: 2,
      model: "other",
      obfuscation: "Xy",
      usage: null,
      citations: [1],
      choices: [
        {
          index: 0,
          delta: { role: "assistant", content: "b", annotations: [2] },
          finish_reason: null,
          native_finish_reason: null,
        },
      ],
    };
    expect(voice.say([text("b")], chat.frame("", JSON.stringify(json)))).toMatchInlineSnapshot(`
      "data: {"id":"chatcmpl-1","provider":"Elsewhere","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","citations":[1],"choices":[{"index":0,"delta":{"annotations":[2],"content":"b"},"finish_reason":null}]}

      "
    `);
  });

  test("from another wire, in the first pass's shape", () => {
    const voice = speaker();
    voice.passed(
      chat.frame(
        "",
        '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"a"}}]}',
      ),
    );
    const said = voice.say([reasoning("hm"), text("b"), { kind: "finish", choice: 0, finish: STOP }], null);
    expect(said + voice.finish(ending())).toMatchInlineSnapshot(`
      "data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}

      data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}

      data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

      data: [DONE]

      "
    `);
  });

  test("the role is told once, also where the first pass told none", () => {
    const voice = speaker();
    expect(voice.say([text("a")], null) + voice.say([text("b")], null)).toMatchInlineSnapshot(`
      "data: {"id":"chatcmpl-lastword","object":"chat.completion.chunk","created":0,"model":"asked","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}

      data: {"id":"chatcmpl-lastword","object":"chat.completion.chunk","created":0,"model":"asked","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}

      "
    `);
  });

  test("a reply that no upstream named has the name it is given", () => {
    const voice = chat.voice(chat.read({ model: "asked", messages: [] }), "chatcmpl-given");
    expect(voice.say([text("a")], null)).toContain('"id":"chatcmpl-given"');
  });

  test("nothing to say is nothing written", () => {
    const voice = speaker();
    expect(voice.say([], second({ role: "assistant", content: "" }))).toBe("");
    expect(voice.say([], second({ content: "dropped" }))).toBe("");
    expect(voice.say([{ kind: "end" }], null)).toBe("");
  });
});

describe("reasoning", () => {
  test.each(["reasoning", "reasoning_content"])("B44: goes on in the first pass's field, %s", (field) => {
    const voice = speaker();
    voice.passed(first({ [field]: "I" }));
    const other = field === "reasoning" ? "reasoning_content" : "reasoning";
    const said = voice.say([reasoning(" think")], second({ [other]: " think" })) + voice.say([reasoning("!")], null);
    expect(said.match(/"delta":{.*?}/g)).toEqual([`"delta":{"${field}":" think"}`, `"delta":{"${field}":"!"}`]);
  });

  test("B44: details go with the reasoning they spell, untouched", () => {
    const details = [{ type: "reasoning.text", text: "ok", signature: "s" }];
    const voice = speaker();
    voice.passed(first({ reasoning: "a" }));
    const whole = second({ content: "", reasoning: "ok", reasoning_details: details });
    const parts = [reasoning("ok"), { kind: "sealed_reasoning", block: 0 }] as const;
    expect(voice.say(parts, whole)).toContain(
      `"delta":{"content":"","reasoning_details":${JSON.stringify(details)},"reasoning":"ok"}`,
    );
    expect(voice.say([reasoning("k")], whole)).toContain('"delta":{"content":"","reasoning":"k"}');
  });

  test("muted reasoning leaves no trace", () => {
    const voice = speaker();
    voice.passed(first({ content: "a" }));
    const frame = second({
      content: "b",
      reasoning: "no",
      reasoning_details: [{ type: "reasoning.encrypted", data: "x" }],
    });
    expect(voice.say([text("b")], frame)).toContain('"delta":{"content":"b"}');
  });

  test("Mistral's typed parts stay typed while they are whole", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "yes" },
    ];
    const voice = speaker();
    voice.passed(first({ content: "a" }));
    expect(voice.say([reasoning("hm"), text("yes")], second({ content }))).toContain(
      `"delta":{"content":${JSON.stringify(content)}}`,
    );
    expect(voice.say([text("s")], second({ content }))).toContain('"delta":{"content":"s"}');
  });
});

describe("what must stand before the first output", () => {
  test("a role, where the server is known to lose it", () => {
    const output = first({ content: "a" });
    expect(speaker().opening([output], false)).toBe("");
    expect(speaker().opening([first({ role: "assistant" }), output], true)).toBe("");
    expect(read(speaker().opening([output], true))).toMatchObject([
      { id: "chatcmpl-1", choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: null }] },
    ]);
  });

  test("a plain body in the stream's place gives the reply its name", () => {
    const voice = speaker();
    voice.named({ id: "chatcmpl-9", model: "own", choices: [] });
    expect(read(voice.say([text("a")], null))).toMatchObject([
      { id: "chatcmpl-9", model: "own", choices: [{ delta: { role: "assistant", content: "a" } }] },
    ]);
  });
});

describe("tool calls", () => {
  test("edge 82: fresh indices for a later pass's calls, one index for the pieces of a call", () => {
    const voice = speaker({ tools: [] });
    voice.passed(
      first({ tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "f", arguments: "{}" } }] }),
    );
    const said = [
      voice.say(
        [tool(10_000, "call_b", "g", "")],
        second({ tool_calls: [{ index: 0, id: "call_b", function: { name: "g" } }] }),
      ),
      voice.say(
        [tool(10_000, "", "", '{"x":1}')],
        second({ tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] }),
      ),
      voice.say([tool(0, "call_c", "h", "{}")], null),
      voice.say([tool(10_002, "", "i", "{}")], null),
      voice.finish(ending({ finish: { kind: "tools", raw: "tool_use" } })),
    ].join("");
    expect(said).toMatchInlineSnapshot(`
      "data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","function":{"name":"g","arguments":""},"type":"function"}]},"logprobs":null,"finish_reason":null}]}

      data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\\"x\\":1}"}}]},"logprobs":null,"finish_reason":null}]}

      data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{"tool_calls":[{"index":2,"id":"call_c","type":"function","function":{"name":"h","arguments":"{}"}}]},"finish_reason":null}]}

      data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{"tool_calls":[{"index":3,"id":"call_3","type":"function","function":{"name":"i","arguments":"{}"}}]},"finish_reason":null}]}

      data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

      data: [DONE]

      "
    `);
  });

  test("held calls are left out of the chunk that brought them", () => {
    const voice = speaker();
    voice.passed(first({ content: "a" }));
    const frame = second({
      content: "b",
      tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{" } }],
    });
    expect(voice.say([text("b")], frame)).toContain('"delta":{"content":"b"}');
  });

  test("a custom tool is called with plain text, in pieces and in a message", () => {
    const tools = [{ type: "custom", custom: { name: "patch" } }];
    const voice = speaker({ tools });
    voice.passed(first({ content: "a" }));
    const said = voice.say([tool(0, "call_a", "patch", "*** Be"), tool(0, "", "", "gin")], null);
    expect(said).toContain('{"index":0,"id":"call_a","type":"custom","custom":{"name":"patch","input":"*** Be"}}');
    expect(said).toContain('{"index":0,"custom":{"input":"gin"}}');
    const reply = replied(tool(0, "call_a", "patch", "*** Begin"));
    expect(speaker({ tools }).body(null, ending({ reply })).choices).toMatchObject([
      {
        message: {
          tool_calls: [{ id: "call_a", type: "custom", custom: { name: "patch", input: "*** Begin" } }],
        },
      },
    ]);
    const called = { index: 0, id: "call_a", type: "custom", custom: { name: "patch", input: "*** Be" } };
    expect(first({ tool_calls: [called] }).parts).toEqual([tool(0, "call_a", "patch", "*** Be")]);
    expect(first({ tool_calls: [{ index: 0, custom: { input: "gin" } }] }).parts).toEqual([tool(0, "", "", "gin")]);
  });

  test("as before tools, where the client speaks so", () => {
    const voice = speaker({ functions: [] });
    voice.passed(first({ content: "a" }));
    const said =
      voice.say([tool(0, "", "f", "{}")], null) +
      voice.finish(ending({ finish: { kind: "tools", raw: "tool_calls" } }));
    expect(said).toContain('"delta":{"function_call":{"name":"f","arguments":"{}"}}');
  });
});

describe("the finish", () => {
  test.each<[Finish, string]>([
    [{ kind: "done", raw: "STOP" }, "stop"],
    [{ kind: "done", raw: "eos" }, "stop"],
    [{ kind: "cap", raw: "MAX_TOKENS" }, "length"],
    [{ kind: "window", raw: "model_length" }, "length"],
    [{ kind: "tools", raw: "tool_use" }, "tool_calls"],
    [{ kind: "tools", raw: "function_call" }, "function_call"],
    [{ kind: "filter", raw: "content_filter" }, "content_filter"],
    [{ kind: "filter", raw: "refusal" }, "refusal"],
    [{ kind: "other", raw: "weird" }, "weird"],
  ])("B28: %j is told as %s", (finish, word) => {
    expect(speaker().finish(ending({ finish }))).toContain(`"finish_reason":"${word}"`);
  });

  test("words beside it go where it changed, and stay where it did not", () => {
    const tail = tailOf({
      choices: [{ index: 0, delta: {}, finish_reason: "length", native_finish_reason: "max_tokens" }],
    });
    expect(speaker().finish(ending({ tail }))).not.toContain("max_tokens");
    expect(speaker().finish(ending({ tail, finish: { kind: "cap", raw: "length" } }))).toContain(
      '"native_finish_reason":"max_tokens"',
    );
  });

  test("the lastword object stands on it", () => {
    const voice = speaker();
    voice.passed(first({ content: "a" }));
    expect(voice.finish(ending({ finish: { kind: "cap", raw: "length" }, report: CUT }))).toMatchInlineSnapshot(`
      "data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"delta":{},"finish_reason":"length"}],"lastword":{"outcome":"cut_off","cause":"reply_cap","code":null,"warnings":[]}}

      data: [DONE]

      "
    `);
  });

  test("in full where the client asked for it", () => {
    const attempt = {
      strategy: "first",
      cap: 50,
      finish_reason: "length",
      prompt_tokens: 9,
      completion_tokens: 50,
      bytes: 1000,
      ms: 12,
      seam: null,
      result: "cut",
    } as const;
    const full = {
      attempts: [attempt, { ...attempt, strategy: "prefill", seam: { overlap: 3, dropped: 1 } } as const],
      window: 4096,
      window_source: "loaded",
      prompt_tokens_estimated: 9,
      billed: { prompt_tokens: 68, completion_tokens: 100 },
    };
    const said = speaker().finish(ending({ report: { ...CUT, warnings: ["usage_estimated"], full } }));
    const [json] = read(said);
    expect(json?.lastword).toEqual({
      outcome: "cut_off",
      cause: "reply_cap",
      code: null,
      warnings: ["usage_estimated"],
      ...full,
    });
  });

  test("an untouched tail keeps its bytes but for the object", () => {
    const finish = '{"id":"x", "choices":[{"index":0,"delta":{},"finish_reason":"length"}]}';
    const usage = '{"id":"x",  "choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}';
    const tail = tailOf(finish, usage, "[DONE]");
    expect(speaker().annotate(tail, CUT)).toMatchInlineSnapshot(`
      "data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"length"}],"lastword":{"outcome":"cut_off","cause":"reply_cap","code":null,"warnings":[]}}

      data: {"id":"x",  "choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}

      data: [DONE]

      "
    `);
  });

  test("without a finish the object stands on the last chunk", () => {
    const tail = tailOf('{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}', "[DONE]");
    expect(speaker().annotate(tail, CUT)).toMatch(
      /^data: {"choices":\[\],"usage":{.*},"lastword":{.*}}\n\ndata: \[DONE]\n\n$/,
    );
  });
});

test("a failure is one error and the end, no finish", () => {
  const facts = { window: 4096, caps: [50, 4096] };
  const failure = { code: "output_cap_exhausted", message: "still cut", param: null, facts } as const;
  expect(speaker().fail(failure)).toMatchInlineSnapshot(`
    "data: {"error":{"message":"still cut","type":"upstream_error","param":null,"code":"output_cap_exhausted","lastword":{"window":4096,"caps":[50,4096]}}}

    data: [DONE]

    "
  `);
});

test("heartbeats", () => {
  expect(chat.heartbeat("comment")).toBe(": keep-alive\n");
  expect(chat.frame("", chat.heartbeat("empty-delta").slice("data: ".length).trim())).toMatchObject({
    kind: "quiet",
    parts: [],
  });
});

describe("edge 67: a plain reply", () => {
  const body: JsonObject = {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "qwen3-8b",
    choices: [
      { index: 0, message: { role: "assistant", content: "Once upon" }, logprobs: null, finish_reason: "length" },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, prompt_tokens_details: { cached_tokens: 4 } },
    stats: {},
  };

  test("is the first pass's body with everything joined", () => {
    const usage = { prompt: 10, completion: 6, reasoning: null, raw: body.usage as JsonObject };
    const joined = speaker().body(body, ending({ reply: replied(text("Once upon a time.")), usage }));
    expect(joined).toEqual({
      ...body,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Once upon a time." },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 6, total_tokens: 16, prompt_tokens_details: { cached_tokens: 4 } },
    });
    expect(body.choices).toMatchObject([{ finish_reason: "length" }]);
  });

  test("says that it is cut", () => {
    const cut = speaker().body(
      body,
      ending({ reply: replied(text("Once upon")), finish: { kind: "cap", raw: "length" }, report: CUT }),
    );
    expect(cut).toEqual({ ...body, lastword: { outcome: "cut_off", cause: "reply_cap", code: null, warnings: [] } });
  });

  test("reasoning, calls and refusals stand in their own fields", () => {
    const reply = replied(reasoning("hmm"), tool(0, "c", "f", "{}"), tool(1, "", "g", "[]"));
    const own = {
      ...body,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: null,
            reasoning: "hm",
            tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{" }, extra: 1 }],
          },
          finish_reason: "length",
        },
      ],
    };
    expect(speaker().body(own, ending({ reply, finish: { kind: "tools", raw: "tool_calls" } })).choices).toEqual([
      {
        index: 0,
        message: {
          role: "assistant",
          content: null,
          reasoning: "hmm",
          tool_calls: [
            { extra: 1, id: "c", type: "function", function: { name: "f", arguments: "{}" } },
            { id: "call_1", type: "function", function: { name: "g", arguments: "[]" } },
          ],
        },
        finish_reason: "tool_calls",
      },
    ]);
  });

  test("B73: made of a stream that nobody asked for", () => {
    const voice = speaker();
    voice.passed(first({ role: "assistant", content: "he" }));
    voice.passed(first({ content: "llo" }));
    const usage = { prompt: 3, completion: 2, reasoning: null, raw: {} };
    expect(voice.body(null, ending({ reply: replied(text("hello")), usage }))).toEqual({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "qwen3-8b",
      choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
  });

  test("B73: a plain body as a short stream", () => {
    const voice = speaker({ stream_options: { include_usage: true } });
    const choice = {
      index: 0,
      message: {
        role: "assistant",
        content: "hi",
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      finish_reason: "tool_calls",
    };
    expect(voice.stream({ ...body, choices: [choice], lastword: { outcome: "malformed" } })).toMatchInlineSnapshot(`
      "data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"finish_reason":null,"delta":{"role":"assistant","content":"hi","tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}}],"stats":{}}

      data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[{"index":0,"finish_reason":"tool_calls","delta":{}}],"stats":{},"lastword":{"outcome":"malformed"}}

      data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"qwen3-8b","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}}

      data: [DONE]

      "
    `);
  });

  test("B53: a plain body of several choices as a short stream", () => {
    const choices = ["Azure.", "Bl"].map((content, index) => ({
      index,
      message: { content },
      finish_reason: index ? "length" : "stop",
    }));
    const said = speaker().stream({ ...body, choices });
    expect(read(said).flatMap((json) => json.choices)).toEqual([
      { index: 0, delta: { role: "assistant", content: "Azure." }, finish_reason: null },
      { index: 1, delta: { role: "assistant", content: "Bl" }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "stop" },
      { index: 1, delta: {}, finish_reason: "length" },
    ]);
    expect(said).not.toContain("usage");
  });
});

describe("edge 59: log probabilities", () => {
  const logprobs = (...tokens: string[]) => ({ content: tokens.map((token) => ({ token, logprob: -1 })) });
  const plain = (content: string, given: JsonObject | null): JsonObject => ({
    choices: [{ index: 0, message: { role: "assistant", content }, logprobs: given, finish_reason: "length" }],
  });
  const joined = (one: JsonObject, later: JsonObject[], words: string) =>
    speaker().body(one, ending({ reply: replied(text(words)), later })).choices;

  test("are joined in order", () => {
    expect(joined(plain("Once ", logprobs("Once", " ")), [plain("upon", logprobs("upon"))], "Once upon")).toMatchObject(
      [{ logprobs: logprobs("Once", " ", "upon") }],
    );
  });

  test("characters of several tokens are spelled by their bytes", () => {
    const halves = { content: [[0xe4, 0xba], [0xac]].map((bytes) => ({ token: "\\x", bytes, logprob: -1 })) };
    expect(joined(plain("京", halves), [], "京")).toMatchObject([{ logprobs: halves }]);
  });

  test("are none where a pass lacks them, or where they would not fit the text", () => {
    expect(joined(plain("Once ", logprobs("Once", " ")), [plain("upon", null)], "Once upon")).toMatchObject([
      { logprobs: null },
    ]);
    expect(
      joined(plain("Once ", logprobs("Once", " ")), [plain("e upon", logprobs("e", " upon"))], "Once upon"),
    ).toMatchObject([{ logprobs: null }]);
  });

  test("in a stream, those of dropped text are dropped with it", () => {
    const voice = speaker();
    voice.passed(first({ content: "Once" }, { logprobs: logprobs("Once") }));
    const frame = second({ content: "Once upon" }, { logprobs: logprobs("Once", " upon") });
    expect(voice.say([text(" upon")], frame)).toContain(`"logprobs":${JSON.stringify(logprobs(" upon"))}`);
    expect(voice.say([text("pon")], frame)).toContain('"logprobs":null');
    const body = voice.body(null, ending({ reply: replied(text("Once uponpon")) }));
    expect(body.choices).toEqual([
      { index: 0, message: { role: "assistant", content: "Once uponpon" }, finish_reason: "stop" },
    ]);
  });
});
