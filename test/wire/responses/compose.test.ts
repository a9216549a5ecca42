import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { responses } from "../../../src/wire/responses/responses.ts";
import type { Compose } from "../../../src/wire/wire.ts";

const ASKED: Compose = {
  cap: null,
  thinkingBudget: null,
  how: "asked",
  partial: null,
  nudge: "Go on.",
  mark: {},
  set: {},
  without: [],
};

const HELLO = { type: "message", role: "user", content: "Hello" };
const NUDGE = { type: "message", role: "user", content: "Go on." };

function composed(body: JsonObject, how: Partial<Compose>): JsonObject {
  const whole = { model: "m", input: "Hello", ...body };
  const before = structuredClone(whole);
  const made = responses.compose(responses.read(whole), { ...ASKED, ...how });
  expect(whole, "the client's own object is never changed").toEqual(before);
  return made;
}

const partial = { text: "Half a rep", reasoning: "" };
const resumed = {
  type: "message",
  id: "msg_lastword",
  role: "assistant",
  status: "in_progress",
  content: [{ type: "output_text", text: "Half a rep", annotations: [] }],
};
const thought = {
  type: "reasoning",
  id: "rs_lastword",
  summary: [],
  content: [{ type: "reasoning_text", text: "Hm" }],
};

describe("compose", () => {
  test("as asked: nothing changes", () => {
    const body = { model: "m", input: "Hello", store: false, previous_response_id: "resp_0" };
    expect(composed(body, {})).toEqual(body);
  });

  test("edge 98: the cap goes into the client's own field", () => {
    const made = composed({ max_output_tokens: 10 }, { cap: { field: "max_output_tokens", tokens: 4096 } });
    expect(made).toEqual({ model: "m", input: "Hello", max_output_tokens: 4096 });
  });

  test("resume: a string becomes items, and the partial reply is the last, with its mark", () => {
    expect(composed({}, { how: "resume", partial }).input).toEqual([HELLO, resumed]);
    const marked = composed({}, { how: "resume", partial, mark: { status: "incomplete" } }).input;
    expect(marked).toEqual([HELLO, { ...resumed, status: "incomplete" }]);
  });

  test.each<[string, JsonObject[string], JsonObject[string]]>([
    ["a string", "Sure: ", "Sure: Half a rep"],
    ["parts", [{ type: "output_text", text: "Sure: " }], [{ type: "output_text", text: "Sure: Half a rep" }]],
    [
      "a refusal",
      [{ type: "refusal", refusal: "No." }],
      [
        { type: "refusal", refusal: "No." },
        { type: "output_text", text: "Half a rep", annotations: [] },
      ],
    ],
  ])("edge 74: the client's own prefill grows, %s", (_, content, grown) => {
    const input = [HELLO, { role: "assistant", content }];
    const expected = [HELLO, { role: "assistant", content: grown }];
    expect(composed({ input }, { how: "resume", partial }).input).toEqual(expected);
    expect(composed({ input }, { how: "nudge", partial }).input).toEqual([...expected, NUDGE]);
  });

  test("edge 75: what stands before it stays as it is", () => {
    const output = { type: "function_call_output", call_id: "c", output: "done" };
    expect(composed({ input: [HELLO, output] }, { how: "resume", partial }).input).toEqual([HELLO, output, resumed]);
  });

  test("edge 88: a thought goes first, and alone, with the mark, where nothing was said", () => {
    const alone = composed({}, { how: "resume", partial: { text: "", reasoning: "Hm" }, mark: { prefix: true } });
    expect(alone.input).toEqual([HELLO, { ...thought, prefix: true }]);
    const both = composed(
      {},
      { how: "resume", partial: { text: "Half a rep", reasoning: "Hm" }, mark: { prefix: true } },
    );
    expect(both.input).toEqual([HELLO, thought, { ...resumed, prefix: true }]);
  });

  test("edges 73, 76: a nudge follows the assistant's turn, and a thought is not told", () => {
    expect(composed({}, { how: "nudge", partial: { text: "Half", reasoning: "Hm" } }).input).toEqual([
      HELLO,
      { type: "message", role: "assistant", content: "Half" },
      NUDGE,
    ]);
  });

  test("edge 87: no empty assistant message", () => {
    const nothing = { text: "", reasoning: "" };
    expect(composed({}, { how: "resume", partial: nothing }).input).toBe("Hello");
    expect(composed({}, { how: "nudge", partial: nothing }).input).toBe("Hello");
  });

  test("a continuation leaves out the format and keeps the verbosity beside it", () => {
    const format = { type: "json_object" };
    const without = [responses.formatField];
    expect(composed({ text: { format, verbosity: "low" } }, { without }).text).toEqual({ verbosity: "low" });
    expect(composed({ text: { format } }, { without })).not.toHaveProperty("text");
  });
});
