import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { callsOf, emptyReply, reasoningOf, take, textOf } from "../../../src/core/reply.ts";
import { responses } from "../../../src/wire/responses/responses.ts";
import { sse } from "../../support/sse.ts";
import { events, framesOf, partsOf, recorded, recordedBody } from "../client.ts";
import { OpenAi } from "./openai.ts";

function replyOf(stream: string) {
  const reply = emptyReply();
  for (const part of partsOf(responses, stream)) take(reply, part);
  return reply;
}

const kinds = (stream: string) => framesOf(responses, stream).map((frame) => frame.kind);

function terminal(type: string, response: JsonObject): string {
  return events({ type: `response.${type}`, response });
}

describe("recorded streams", () => {
  test("text", () => {
    const reply = replyOf(recorded("responses-text-whole.sse"));
    expect(textOf(reply)).toBe("Hello there! The workshop is open.");
    expect(reply).toMatchObject({
      finish: { kind: "done", raw: "completed" },
      usage: { prompt: 19, completion: 12 },
      ended: true,
    });
  });

  test("B99: this server calls a cut reply completed; its usage tells", () => {
    const reply = replyOf(recorded("responses-text-cut.sse"));
    expect(reply).toMatchObject({ finish: { kind: "done", raw: "completed" }, usage: { completion: 6 } });
  });

  test("a thought and an answer are told apart, though nothing numbers them", () => {
    const reply = replyOf(recorded("responses-thought-whole.sse"));
    expect(reply.blocks.map((block) => [block.kind, block.block, block.sealed])).toEqual([
      ["reasoning", 0, false],
      ["text", 1, false],
    ]);
    expect(reasoningOf(reply)).toMatch(/^The keeper asks which lamp to trim first\. .* holds little\.\n$/s);
    expect(textOf(reply)).toMatch(/^Trim lamp 15 first\..* until morning\.$/s);
  });

  test("a call, whole and cut", () => {
    const whole = replyOf(recorded("responses-call-whole.sse"));
    const [call] = callsOf(whole);
    expect(whole.finish).toEqual({ kind: "tools", raw: "completed" });
    expect(call).toMatchObject({ name: "write_file", id: expect.stringMatching(/^call_/), ended: true });
    expect(JSON.parse(call?.text ?? "")).toMatchObject({ path: "parcel.py" });
    expect(() => JSON.parse(callsOf(replyOf(recorded("responses-call-cut.sse")))[0]?.text ?? "")).toThrow();
  });

  test("plain bodies", () => {
    expect(responses.parts(recordedBody("responses-text-cut.json"))).toEqual([
      { kind: "text", block: 0, text: "Hello there!" },
      expect.objectContaining({ kind: "usage", usage: expect.objectContaining({ prompt: 19, completion: 6 }) }),
      { kind: "finish", choice: 0, finish: { kind: "done", raw: "completed" } },
      { kind: "end" },
    ]);
    const body = responses.parts(recordedBody("responses-thought-whole.json"));
    expect(body.map((part) => part.kind)).toEqual(["reasoning", "text", "usage", "finish", "end"]);
  });
});

describe("what an event is", () => {
  test("created is no output, each done and the terminal event are held", () => {
    const stream = OpenAi.whole("1", [{ is: "message", pieces: ["Hel", "lo"] }]);
    expect(kinds(stream)).toEqual([
      ...["quiet", "quiet", "quiet", "quiet"],
      ...["output", "output"],
      ...["tail", "tail", "tail", "tail"],
    ]);
  });

  test("[DONE] belongs to the end and ends nothing (OpenRouter)", () => {
    expect(framesOf(responses, sse("[DONE]"))).toMatchObject([{ kind: "tail", parts: [], garbage: false }]);
    expect(framesOf(responses, sse("half {", "response.output_text.delta"))).toMatchObject([{ garbage: true }]);
  });

  test("a call names itself where its item begins", () => {
    const [, , opened] = framesOf(responses, OpenAi.whole("1", [{ is: "call", name: "look", pieces: ["{}"] }]));
    expect(opened).toMatchObject({ kind: "output", parts: [{ kind: "tool", name: "look", args: "" }] });
  });

  test("calls stay apart without numbers, by the ids of their items", () => {
    const added = (id: string) => ({
      type: "response.output_item.added",
      item: { type: "function_call", id, call_id: `call_${id}`, name: "look", arguments: "" },
    });
    const args = (item_id: string, delta: string) => ({
      type: "response.function_call_arguments.delta",
      item_id,
      delta,
    });
    const stream = events(added("a"), args("a", '{"at":'), added("b"), args("b", "{}"), args("a", "1}"));
    expect(callsOf(replyOf(stream)).map((call) => [call.id, call.text])).toEqual([
      ["call_a", '{"at":1}'],
      ["call_b", "{}"],
    ]);
  });

  test("what comes whole and never piece by piece is heard all the same", () => {
    const call = {
      type: "function_call",
      id: "a",
      call_id: "c",
      name: "look",
      arguments: '{"at":1}',
      status: "completed",
    };
    const item = { type: "response.output_item.done", output_index: 0, item: call };
    expect(callsOf(replyOf(events(item)))).toMatchObject([{ id: "c", text: '{"at":1}', ended: true }]);
    const text = { type: "response.output_text.done", item_id: "m", content_index: 0, text: "Hello" };
    expect(replyOf(events(text)).blocks).toMatchObject([{ text: "Hello" }]);
  });

  test("a call whose item says incomplete has not ended", () => {
    const call = { is: "call", name: "look", pieces: ['{"at":'] } as const;
    const reply = replyOf(OpenAi.whole("1", [call], "incomplete", "max_output_tokens"));
    expect(callsOf(reply)).toMatchObject([{ ended: false }]);
  });

  test("the input of a custom tool is plain text", () => {
    const item = { type: "custom_tool_call", id: "a", call_id: "c", name: "patch", input: "" };
    const delta = { type: "response.custom_tool_call_input.delta", item_id: "a", delta: "+ lamp" };
    const stream = events({ type: "response.output_item.added", item }, delta, {
      type: "response.output_item.done",
      item: { ...item, input: "+ lamp" },
    });
    expect(callsOf(replyOf(stream))).toMatchObject([{ id: "c", name: "patch", text: "+ lamp", ended: true }]);
  });

  test("summaries and encrypted reasoning are sealed, empty fields seal nothing", () => {
    const summary = {
      type: "response.reasoning_summary_text.delta",
      item_id: "r",
      summary_index: 0,
      delta: "In short",
    };
    expect(framesOf(responses, events(summary))).toMatchObject([
      { kind: "output", parts: [{ kind: "sealed_reasoning" }] },
    ]);
    const done = (encrypted_content: string) =>
      partsOf(
        responses,
        events({
          type: "response.output_item.done",
          item: { type: "reasoning", id: "r", summary: [], encrypted_content },
        }),
      );
    expect(done("abc")).toMatchObject([{ kind: "sealed_reasoning" }]);
    expect(done("")).toEqual([]);
  });

  test("a refusal is text", () => {
    const stream = events({ type: "response.refusal.delta", item_id: "m", content_index: 0, delta: "No." });
    expect(partsOf(responses, stream)).toEqual([{ kind: "text", block: 0, text: "No." }]);
  });

  test("what the server's own tools make is output that no part has", () => {
    const item = { type: "web_search_call", id: "ws", status: "in_progress" };
    const stream = events(
      { type: "response.output_item.added", item },
      { type: "response.web_search_call.searching", item_id: "ws" },
      { type: "response.output_item.done", item },
    );
    expect(kinds(stream)).toEqual(["output", "output", "output"]);
    expect(partsOf(responses, stream)).toEqual([]);
  });
});

describe("how a response ended", () => {
  const finishIn = (stream: string) => replyOf(stream).finish;
  const incomplete = (reason: string) => ({ status: "incomplete", incomplete_details: { reason } });

  test.each([
    ["max_output_tokens", "cap"],
    ["max_tokens", "cap"],
    ["content_filter", "filter"],
    ["future_reason", "other"],
    ["constructor", "other"],
  ])("B104, edge 11: incomplete for %s is %s", (raw, kind) => {
    expect(finishIn(terminal("incomplete", incomplete(raw)))).toEqual({ kind, raw });
  });

  test("edge 10: a completed event with an incomplete response in it", () => {
    expect(finishIn(terminal("completed", incomplete("max_output_tokens")))?.kind).toBe("cap");
    const hidden = { status: "completed", incomplete_details: { reason: "max_output_tokens" } };
    expect(finishIn(terminal("completed", hidden))?.kind).toBe("cap");
  });

  test("B100: an incomplete response without any message", () => {
    const output = [{ type: "reasoning", id: "r", summary: [] }];
    const usage = { input_tokens: 9, output_tokens: 50, output_tokens_details: { reasoning_tokens: 50 } };
    expect(responses.parts({ ...incomplete("max_output_tokens"), output, usage })).toEqual([
      { kind: "usage", usage: { prompt: 9, completion: 50, reasoning: 50, raw: usage } },
      { kind: "finish", choice: 0, finish: { kind: "cap", raw: "max_output_tokens" } },
      { kind: "end" },
    ]);
  });

  test("B102: without its terminal event a response has neither finish nor end", () => {
    const whole = OpenAi.whole("1", [{ is: "call", name: "look", pieces: ["{}"] }]);
    const cut = whole.slice(0, whole.lastIndexOf("event:"));
    expect(replyOf(cut)).toMatchObject({ finish: null, ended: false });
  });
});

describe("errors in a stream", () => {
  const faultIn = (stream: string) => partsOf(responses, stream).find((part) => part.kind === "fault")?.fault;

  test("response.failed", () => {
    const error = { code: "server_error", message: "The server had an error" };
    const fault = faultIn(terminal("failed", { status: "failed", error }));
    expect(fault).toMatchObject({ status: 500, message: error.message, code: "server_error" });
    expect(replyOf(terminal("failed", { status: "failed", error })).ended).toBe(false);
  });

  test("the flat error event", () => {
    const event = { type: "error", code: "rate_limit_exceeded", message: "Slow down", param: null, sequence_number: 3 };
    expect(faultIn(events(event))).toMatchObject({ status: 429, message: "Slow down", type: null });
  });

  test("an error under any name", () => {
    const stream = sse({ error: { code: 500, message: "Context size has been exceeded.", type: "server_error" } });
    expect(faultIn(stream)).toMatchObject({ status: 500, type: "server_error" });
  });

  test("a plain body that is an error", () => {
    expect(responses.parts({ error: { message: "No", code: 429 } })).toMatchObject([
      { kind: "fault", fault: { status: 429 } },
    ]);
  });
});
