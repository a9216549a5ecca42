import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Part } from "../../../src/core/part.ts";
import { callsOf, emptyReply, reasoningOf, take, textOf } from "../../../src/core/reply.ts";
import { messages } from "../../../src/wire/messages/messages.ts";
import { sse } from "../../support/sse.ts";
import { events, framesOf, partsOf, recorded, recordedBody } from "../client.ts";

function replyOf(stream: string) {
  const reply = emptyReply();
  for (const part of partsOf(messages, stream)) take(reply, part);
  return reply;
}

const start = (index: number, content_block: JsonObject) => ({ type: "content_block_start", index, content_block });
const delta = (index: number, delta: JsonObject) => ({ type: "content_block_delta", index, delta });
const stop = (index: number) => ({ type: "content_block_stop", index });

function finishOf(stop_reason: string): Part | undefined {
  const stream = events({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 5 } });
  return partsOf(messages, stream).find((part) => part.kind === "finish");
}

describe("recorded streams", () => {
  test("text", () => {
    const reply = replyOf(recorded("messages-text-whole.sse"));
    expect(textOf(reply)).toBe("Hello there! The workshop is open.");
    expect(reply).toMatchObject({
      finish: { kind: "done", raw: "end_turn" },
      usage: { prompt: 19, completion: 12 },
      ended: true,
    });
  });

  test("a cut says so", () => {
    expect(replyOf(recorded("messages-text-cut.sse")).finish).toEqual({ kind: "cap", raw: "max_tokens" });
  });

  test("a thought and an answer", () => {
    const reply = replyOf(recorded("messages-thought-whole.sse"));
    expect(reply.blocks.map((block) => [block.kind, block.block, block.sealed])).toEqual([
      ["reasoning", 0, false],
      ["text", 1, false],
    ]);
    expect(reasoningOf(reply)).toMatch(/^The keeper asks which lamp to trim first\. .* holds little\.\n$/s);
    expect(textOf(reply)).toMatch(/^Trim lamp 15 first\..* until morning\.$/s);
  });

  test("a call, whole and cut", () => {
    const [whole] = callsOf(replyOf(recorded("messages-call-whole.sse")));
    expect(whole).toMatchObject({ name: "write_file", ended: true });
    expect(JSON.parse(whole?.text ?? "")).toMatchObject({ path: "parcel.py" });
    const cut = replyOf(recorded("messages-call-cut.sse"));
    expect(cut.finish?.kind).toBe("cap");
    expect(() => JSON.parse(callsOf(cut)[0]?.text ?? "")).toThrow();
  });

  test("plain bodies", () => {
    expect(messages.parts(recordedBody("messages-text-cut.json"))).toEqual([
      { kind: "text", block: 0, text: "Hello there!" },
      { kind: "finish", choice: 0, finish: { kind: "cap", raw: "max_tokens" } },
      expect.objectContaining({ kind: "usage", usage: expect.objectContaining({ prompt: 19, completion: 6 }) }),
      { kind: "end" },
    ]);
    const kinds = messages.parts(recordedBody("messages-thought-whole.json")).map((part) => part.kind);
    expect(kinds).toEqual(["reasoning", "text", "finish", "usage", "end"]);
  });
});

describe("what an event is", () => {
  const kinds = (stream: string) => framesOf(messages, stream).map((frame) => frame.kind);

  test("openings and pings are no output, stops and ends are held", () => {
    expect(kinds(recorded("messages-text-cut.sse"))).toEqual([
      "quiet",
      "quiet",
      ...Array.from({ length: 6 }, () => "output"),
      "tail",
      "tail",
      "tail",
    ]);
    expect(kinds(events({ type: "ping" }, delta(0, { type: "text_delta", text: "" })))).toEqual(["quiet", "quiet"]);
  });

  test("what is not JSON is garbage", () => {
    expect(framesOf(messages, sse("half {", "content_block_delta"))).toMatchObject([{ kind: "quiet", garbage: true }]);
  });

  test("edge 66: a signature seals the thought that it signs, an empty one does not", () => {
    const sealed = (signature: string) =>
      replyOf(
        events(
          start(0, { type: "thinking", thinking: "", signature: "" }),
          delta(0, { type: "thinking_delta", thinking: "Hm" }),
          delta(0, { type: "signature_delta", signature }),
        ),
      ).blocks;
    expect(sealed("abc")).toMatchObject([{ text: "Hm", sealed: true }]);
    expect(sealed("")).toMatchObject([{ text: "Hm", sealed: false }]);
    const redacted = events(start(0, { type: "redacted_thinking", data: "xyz" }));
    expect(framesOf(messages, redacted)).toMatchObject([{ kind: "output", parts: [{ kind: "sealed_reasoning" }] }]);
  });

  test("server tools are output, but no call of the client's", () => {
    const stream = events(
      start(0, { type: "server_tool_use", id: "srv", name: "web_search", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"query":"lamps"}' }),
      stop(0),
      start(1, { type: "web_search_tool_result", tool_use_id: "srv", content: [] }),
      stop(1),
    );
    expect(kinds(stream)).toEqual(["output", "output", "tail", "output", "tail"]);
    expect(partsOf(messages, stream)).toEqual([]);
  });

  test("a call whose arguments stand at its start only", () => {
    const call = start(0, { type: "tool_use", id: "t", name: "look", input: { at: 1 } });
    expect(callsOf(replyOf(events(call, stop(0))))).toMatchObject([{ text: '{"at":1}', ended: true }]);
    const fed = events(call, delta(0, { type: "input_json_delta", partial_json: '{"at":2}' }), stop(0));
    expect(callsOf(replyOf(fed))).toMatchObject([{ text: '{"at":2}', ended: true }]);
  });

  test("two calls at once stay apart", () => {
    const call = (index: number) => start(index, { type: "tool_use", id: `t${index}`, name: "look", input: {} });
    const args = (index: number, partial_json: string) => delta(index, { type: "input_json_delta", partial_json });
    const stream = events(call(0), args(0, '{"at":'), call(1), args(1, '{"on":1}'), args(0, "1}"), stop(0), stop(1));
    expect(callsOf(replyOf(stream)).map((block) => [block.id, block.text])).toEqual([
      ["t0", '{"at":1}'],
      ["t1", '{"on":1}'],
    ]);
  });
});

describe("how a message ended", () => {
  test.each([
    ["end_turn", "done"],
    ["stop_sequence", "done"],
    ["max_tokens", "cap"],
    ["MAX_TOKENS", "cap"],
    ["model_context_window_exceeded", "window"],
    ["tool_use", "tools"],
    ["pause_turn", "pause"],
    ["refusal", "filter"],
    ["future_reason", "other"],
    ["constructor", "other"],
  ])("B101, edge 12: %s is %s", (raw, kind) => {
    expect(finishOf(raw)).toEqual({ kind: "finish", choice: 0, finish: { kind, raw } });
  });

  test("B103: usage is told twice and counted once", () => {
    const stream = events(
      { type: "message_start", message: { usage: { input_tokens: 27, output_tokens: 1 } } },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { input_tokens: 27, cache_read_input_tokens: 5, output_tokens: 47 },
      },
    );
    expect(replyOf(stream).usage).toMatchObject({ prompt: 32, completion: 47 });
  });

  test("B105: cached tokens are prompt tokens", () => {
    const usage = {
      input_tokens: 2,
      cache_read_input_tokens: 73468,
      cache_creation_input_tokens: 10,
      output_tokens: 1,
    };
    const [told] = messages.parts({ usage }).filter((part) => part.kind === "usage");
    expect(told).toMatchObject({ usage: { prompt: 73480 } });
  });

  test("the start counts the prompt only, and stands where the end says 0", () => {
    const opening = events({ type: "message_start", message: { usage: { input_tokens: 27, output_tokens: 1 } } });
    expect(replyOf(opening).usage).toMatchObject({ prompt: 27, completion: null });
    const closing = events({ type: "message_delta", delta: {}, usage: { input_tokens: 0, output_tokens: 9 } });
    expect(replyOf(opening + closing).usage).toMatchObject({ prompt: 27, completion: 9 });
  });

  test("thinking tokens", () => {
    const usage = { input_tokens: 1, output_tokens: 9, output_tokens_details: { thinking_tokens: 7 } };
    expect(messages.parts({ usage })).toMatchObject([{ usage: { reasoning: 7 } }]);
  });
});

describe("errors in a stream", () => {
  const faultIn = (stream: string) => partsOf(messages, stream).find((part) => part.kind === "fault")?.fault;

  test("Anthropic's shape, with the status that its type stands for", () => {
    const error = { type: "overloaded_error", message: "Overloaded" };
    expect(faultIn(events({ type: "error", error }))).toMatchObject({
      status: 529,
      message: "Overloaded",
      type: error.type,
    });
  });

  test("LM Studio's shape", () => {
    const stream = sse({ error: { message: "Compute error." }, message: "Compute error." }, "error");
    expect(faultIn(stream)).toMatchObject({ status: 200, message: "Compute error.", type: null });
  });

  test("a plain body that is an error", () => {
    const body = { type: "error", error: { type: "rate_limit_error", message: "Slow down" } };
    expect(messages.parts(body)).toMatchObject([{ kind: "fault", fault: { status: 429 } }]);
  });
});
