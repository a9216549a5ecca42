import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failure } from "../../../src/core/error.ts";
import { asArray, asObject, type JsonObject } from "../../../src/core/json.ts";
import { emptyReply, take } from "../../../src/core/reply.ts";
import { countedTokens, messages } from "../../../src/wire/messages/messages.ts";
import { Client, CUT, DONE, events, partsOf, recorded, recordedBody, usage } from "../client.ts";
import { hear } from "./hear.ts";

const ASK = { max_tokens: 6, messages: [{ role: "user", content: "Say hello." }], stream: true };
const TOOLS = { kind: "tools", raw: "tool_use" } as const;
const CAP = { kind: "cap", raw: "max_tokens" } as const;

const start = (index: number, content_block: JsonObject) => ({ type: "content_block_start", index, content_block });
const delta = (index: number, delta: JsonObject) => ({ type: "content_block_delta", index, delta });
const text = (index: number, text: string) => delta(index, { type: "text_delta", text });
const thinking = (index: number, thinking: string) => delta(index, { type: "thinking_delta", thinking });
const stop = (index: number) => ({ type: "content_block_stop", index });
const OPENING: JsonObject = {
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 9 } },
};

function client(): Client {
  return new Client(messages, ASK, "req");
}

describe("what no part has", () => {
  test("server tools and citations of a later pass stand where they belong", () => {
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ type: "web_search_result" }],
    };
    const citation = { type: "web_search_result_location", cited_text: "sill" };
    const first = events(OPENING, start(0, { type: "text", text: "" }), text(0, "I look. "), stop(0));
    const later = events(
      OPENING,
      start(0, search),
      delta(0, { type: "input_json_delta", partial_json: '{"query":"lamp"}' }),
      stop(0),
      start(1, found),
      stop(1),
      start(2, { type: "text", text: "" }),
      text(2, "On the sill."),
      delta(2, { type: "citations_delta", citation }),
      stop(2),
    );
    const message = hear(client().first(first).later(later).finish(DONE, usage(9, 8)).events);
    expect(message.content).toEqual([
      { type: "text", text: "I look. " },
      { ...search, json: undefined, input: { query: "lamp" } },
      found,
      { type: "text", text: "On the sill.", citations: [citation] },
    ]);
  });
});

describe("whole byte streams", () => {
  test("edges 62, 66: a text cut and resumed", async () => {
    const heard = client()
      .first(recorded("messages-text-cut.sse"))
      .later(recorded("messages-text-rest.sse"))
      .finish(DONE, usage(19, 11)).heard;
    await expect(heard).toMatchFileSnapshot("golden/text.sse");
    // But for ids and counts it is what the server says when it is not cut.
    const plain = (stream: string) => stream.replace(/^.*message_start.*$/gm, "").replace(/"output_tokens":\d+/, "");
    expect(plain(heard)).toBe(plain(recorded("messages-text-whole.sse")));
  });

  test("a text given up, with the report on its message_delta", async () => {
    const heard = client().first(recorded("messages-text-cut.sse")).finish(CAP, usage(19, 6), CUT).heard;
    await expect(heard).toMatchFileSnapshot("golden/text-cut.sse");
  });

  test("the untouched tail, annotated", async () => {
    const heard = client().first(recorded("messages-text-cut.sse")).annotate(CUT).heard;
    await expect(heard).toMatchFileSnapshot("golden/text-annotated.sse");
    expect(heard.replace(/,"lastword":\{.*?\}/, "")).toBe(recorded("messages-text-cut.sse"));
  });

  test("edge 77: a text, then a call that a later pass made whole", async () => {
    const first = events(OPENING, start(0, { type: "text", text: "" }), text(0, "I look."), stop(0));
    const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
    const again = events(
      OPENING,
      start(0, call),
      delta(0, { type: "input_json_delta", partial_json: '{"at":1}' }),
      stop(0),
    );
    const heard = client().first(first).later(again).finish(TOOLS, usage(9, 8)).heard;
    await expect(heard).toMatchFileSnapshot("golden/call.sse");
  });

  test("a failure", async () => {
    const why = failure("upstream_stalled", "Nothing came for 600 s.", { seconds: 600 });
    const heard = client().first(recorded("messages-text-cut.sse")).fail(why).heard;
    await expect(heard).toMatchFileSnapshot("golden/failure.sse");
  });

  test("a plain body told as a stream", async () => {
    const body = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "abc" },
        { type: "text", text: "I look.", citations: [{ cited_text: "lamp" }] },
        { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 8 },
      lastword: { outcome: "healed" },
    };
    const told = client().stream(body);
    await expect(told.heard).toMatchFileSnapshot("golden/body.sse");
    expect(hear(told.events)).toEqual(body);
  });
});

describe("blocks", () => {
  test("edge 88: a thought cut and resumed goes on in its block, and the answer follows in the next", () => {
    const told = client()
      .first(recorded("messages-thought-cut.sse"))
      .later(recorded("messages-thought-rest.sse"), { resumes: "reasoning" })
      .finish(DONE, usage(21, 512));
    const whole = emptyReply();
    for (const part of partsOf(messages, recorded("messages-thought-whole.sse"))) take(whole, part);
    const [thought, answer] = whole.blocks;
    expect(hear(told.events).content).toEqual([
      { type: "thinking", thinking: thought?.text, signature: "" },
      { type: "text", text: answer?.text },
    ]);
  });

  test("a call that was cut is let go, and the whole one stands at its index", () => {
    const told = client()
      .first(recorded("messages-call-cut.sse"), { calls: false })
      .later(recorded("messages-call-whole.sse"))
      .finish(TOOLS, usage(120, 446));
    expect(hear(told.events)).toMatchObject({ stop_reason: "tool_use", content: [{ input: { path: "parcel.py" } }] });
  });

  test("a block that had begun and held nothing is used", () => {
    const told = client()
      .first(events(OPENING, start(0, { type: "text", text: "" })))
      .later(events(text(0, "Hello")))
      .finish(DONE);
    expect(hear(told.events).content).toEqual([{ type: "text", text: "Hello" }]);
  });

  test("blocks that the first pass left open side by side are all closed", () => {
    const first = events(
      OPENING,
      start(0, { type: "thinking", thinking: "" }),
      thinking(0, "Hm"),
      start(1, { type: "text", text: "" }),
      text(1, "He"),
    );
    const told = client()
      .first(first)
      .later(events(text(0, "llo")))
      .finish(DONE);
    expect(hear(told.events).content).toEqual([
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "Hello" },
    ]);
  });

  test("pieces of other wires: calls with names of their own, one after the other", () => {
    const told = client()
      .first(events(OPENING, start(0, { type: "text", text: "" }), text(0, "Hi")))
      .say([{ kind: "text", block: 0, text: " there" }])
      .say([
        { kind: "tool", block: 7, id: "call_1", name: "look", args: "" },
        { kind: "tool", block: 7, id: "", name: "", args: '{"at":1}' },
        { kind: "tool", block: 8, id: "", name: "wait", args: "" },
      ])
      .finish(TOOLS);
    expect(hear(told.events).content).toEqual([
      { type: "text", text: "Hi there" },
      { type: "tool_use", id: "call_1", name: "look", input: { at: 1 } },
      { type: "tool_use", id: "toolu_msg_1_2", name: "wait", input: {} },
    ]);
  });

  test("edge 66: a signature goes on where it signs all that was shown, and is dropped where it does not", () => {
    const signed = events(
      start(0, { type: "thinking", thinking: "" }),
      thinking(0, "Hm"),
      delta(0, { type: "signature_delta", signature: "abc" }),
    );
    const fresh = client().first(events(OPENING)).later(signed, { resumes: "reasoning" }).finish(DONE);
    expect(hear(fresh.events).content).toEqual([{ type: "thinking", thinking: "Hm", signature: "abc" }]);
    const first = events(OPENING, start(0, { type: "thinking", thinking: "", signature: "" }), thinking(0, "Oh. "));
    const grown = client().first(first).later(signed, { resumes: "reasoning" }).finish(DONE);
    expect(hear(grown.events).content).toEqual([{ type: "thinking", thinking: "Oh. Hm", signature: "" }]);
  });

  test("a redacted thought of a later pass is a block of its own", () => {
    const redacted = { type: "redacted_thinking", data: "xyz" };
    const told = client()
      .first(events(OPENING))
      .later(events(start(0, redacted), stop(0), text(1, "Hi")))
      .finish(DONE);
    expect(hear(told.events).content).toEqual([redacted, { type: "text", text: "Hi" }]);
  });

  test("nothing had begun: a message under a name of our own", () => {
    const told = client()
      .say([{ kind: "text", block: 0, text: "Hi" }])
      .finish(DONE, usage(9, 1));
    expect(hear(told.events)).toMatchObject({
      id: "msg_req",
      model: "reciter",
      role: "assistant",
      usage: { output_tokens: 1 },
    });
  });

  test("a first pass that began by its middle (llama-server, half a character first) is not begun again", () => {
    const told = client()
      .first(events(start(0, { type: "text", text: "" }), text(0, "春")))
      .later(events(text(0, "は")))
      .finish(CAP);
    expect(told.types).not.toContain("message_start");
  });

  test("unknown fields of the upstream's own piece survive", () => {
    const piece = { ...text(0, "llo"), speed: 3 };
    const told = client()
      .first(events(OPENING, start(0, { type: "text", text: "" }), text(0, "He")))
      .later(events(piece));
    expect(told.events.at(-1)).toEqual({ ...text(0, "llo"), speed: 3 });
  });

  test("law: however a reply is cut, the client hears the same blocks", () => {
    const block = fc.record({
      kind: fc.constantFrom("text" as const, "thinking" as const),
      pieces: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }),
    });
    // Side by side blocks of one kind are one thing that goes on.
    const blocks = fc
      .array(block, { minLength: 1, maxLength: 4 })
      .map((all) => all.filter((one, i) => one.kind !== all[i - 1]?.kind));
    fc.assert(
      fc.property(blocks, fc.array(fc.nat(8), { maxLength: 3 }), (all, cuts) => {
        const told = client();
        const pieces = all.flatMap(({ kind, pieces }, index) => pieces.map((piece) => ({ kind, index, piece })));
        const passes: (typeof pieces)[] = [];
        for (const cut of cuts) passes.push(pieces.splice(0, cut));
        passes.push(pieces);
        passes.forEach((pass, i) => {
          const begun = new Set<number>();
          const stream = pass.flatMap(({ kind, index, piece }): JsonObject[] => {
            const opens = begun.has(index) ? [] : [...[...begun].map(stop), start(index, { type: kind, [kind]: "" })];
            begun.clear();
            begun.add(index);
            return [...opens, kind === "text" ? text(index, piece) : thinking(index, piece)];
          });
          if (i === 0) told.first(events(OPENING, ...stream));
          else {
            for (const { kind, index, piece } of pass)
              told.say([{ kind: kind === "text" ? kind : "reasoning", block: index, text: piece }]);
          }
        });
        const heard = asArray(hear(told.finish(DONE).events).content);
        expect(heard.map((one) => asObject(one)?.text ?? asObject(one)?.thinking)).toEqual(
          all.map(({ pieces }) => pieces.join("")),
        );
      }),
    );
  });
});

describe("the end", () => {
  const said = () => client().first(events(OPENING, start(0, { type: "text", text: "" }), text(0, "Hi")));

  test.each([
    [{ kind: "done", raw: "stop" }, "end_turn"],
    [{ kind: "done", raw: "stop_sequence" }, "stop_sequence"],
    [{ kind: "cap", raw: "length" }, "max_tokens"],
    [{ kind: "window", raw: "length" }, "model_context_window_exceeded"],
    [{ kind: "tools", raw: "tool_calls" }, "tool_use"],
    [{ kind: "filter", raw: "content_filter" }, "refusal"],
    [{ kind: "pause", raw: "pause_turn" }, "pause_turn"],
    [{ kind: "other", raw: "future_reason" }, "future_reason"],
  ] as const)("B101: %j is told as %s", (finish, word) => {
    expect(hear(said().finish(finish).events).stop_reason).toBe(word);
  });

  test("edge 64: usage in the fields in which the upstream tells it, the prompt as the first pass counted it", () => {
    const closing = {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 30, output_tokens: 5 },
    };
    const told = said()
      .later(events(text(0, "!"), closing))
      .finish(DONE, usage(9, 7, { input_tokens: 39 }));
    expect(told.events.at(-2)?.usage).toEqual({ input_tokens: 9, output_tokens: 7 });
  });

  test("a matched stop sequence, container and the like stay from the last pass", () => {
    const closing = {
      type: "message_delta",
      delta: { stop_reason: "stop_sequence", stop_sequence: "END", container: { id: "c" } },
    };
    const told = said().later(events(closing)).finish({ kind: "done", raw: "stop_sequence" });
    expect(told.events.at(-2)?.delta).toEqual(closing.delta);
    const capped = said().later(events(closing)).finish(CAP);
    expect(capped.events.at(-2)?.delta).toMatchObject({ stop_reason: "max_tokens", stop_sequence: null });
  });
});

describe("plain bodies", () => {
  const first = { ...recordedBody("messages-text-cut.json"), note: "kept" };
  const said = (...parts: [number, string][]) => {
    const reply = emptyReply();
    for (const [block, text] of parts) take(reply, { kind: "text", block, text });
    return reply;
  };

  test("edge 67: the first body with everything joined", () => {
    const reply = said([0, "Hello there! The workshop is open."]);
    const body = client().body(first, { finish: DONE, reply, usage: usage(19, 11), report: CUT });
    expect(body).toEqual({
      ...first,
      content: [{ type: "text", text: "Hello there! The workshop is open." }],
      stop_reason: "end_turn",
      usage: { cache_read_input_tokens: 18, input_tokens: 1, output_tokens: 11 },
      lastword: { outcome: "cut_off", cause: "context_full", code: null, warnings: [] },
    });
  });

  test("signatures, citations and server tools keep their places", () => {
    const thought = { type: "thinking", thinking: "Hm.", signature: "abc" };
    const search = { type: "server_tool_use", id: "srv", name: "web_search", input: {} };
    const cited = { type: "text", text: "The", citations: [{ cited_text: "lamp" }] };
    const reply = said();
    take(reply, { kind: "reasoning", block: 0, text: "Hm." });
    take(reply, { kind: "sealed_reasoning", block: 0 });
    take(reply, { kind: "text", block: 2, text: "The lamp." });
    const body = client().body({ content: [thought, search, cited] }, { finish: DONE, reply });
    expect(body.content).toEqual([thought, search, { ...cited, text: "The lamp." }]);
  });

  test("a reply that was asked again keeps nothing of the body that was let go", () => {
    const call = { type: "tool_use", id: "toolu_msg_1_2", name: "look", input: { at: 1 }, caller: { type: "direct" } };
    const reply = said();
    for (const part of messages.parts({ content: [call] })) take(reply, part);
    const body = client().body(recordedBody("messages-call-cut.json"), {
      finish: TOOLS,
      reply,
      later: [{ content: [call] }],
    });
    expect(body).toMatchObject({ content: [call], stop_reason: "tool_use" });
  });

  test("edge 66: a thought that grew is signed no more", () => {
    const reply = said();
    take(reply, { kind: "reasoning", block: 0, text: "Hm. Yes." });
    const body = client().body(
      { content: [{ type: "thinking", thinking: "Hm.", signature: "abc" }] },
      { finish: DONE, reply },
    );
    expect(body.content).toEqual([{ type: "thinking", thinking: "Hm. Yes.", signature: "" }]);
  });

  test("B33: arguments that are no JSON are handed on as they are", () => {
    const reply = said();
    take(reply, { kind: "tool", block: 0, id: "t", name: "look", args: '{"at":' });
    take(reply, { kind: "tool", block: 1, id: "u", name: "wait", args: "" });
    expect(client().body(null, { finish: TOOLS, reply })).toMatchObject({
      content: [{ input: '{"at":' }, { input: {} }],
    });
  });

  test("the upstream streamed although not asked to: the message as it began", () => {
    const told = client().first(recorded("messages-text-whole.sse"));
    const body = told.body(null, {
      finish: { kind: "done", raw: "end_turn" },
      reply: told.reply,
      usage: usage(19, 12),
    });
    expect(body).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      type: "message",
      content: [{ type: "text", text: "Hello there! The workshop is open." }],
      stop_reason: "end_turn",
      usage: { cache_read_input_tokens: 18, input_tokens: 1, output_tokens: 12 },
    });
  });
});

test("errors, heartbeats and counts in the wire's own shape", () => {
  const why = failure("context_length_exceeded", "prompt is too long", { window: 4096 }, "messages");
  expect(messages.error(why)).toEqual({
    type: "error",
    error: { message: "prompt is too long", type: "invalid_request_error", code: why.code, lastword: { window: 4096 } },
  });
  expect(messages.heartbeat("comment")).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  expect(countedTokens(26)).toEqual({ input_tokens: 26 });
});
