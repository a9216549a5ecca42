import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { chat } from "../../../src/wire/chat/chat.ts";
import type { Compose } from "../../../src/wire/wire.ts";
import { AS_ASKED } from "../../support/as-asked.ts";

const user = { role: "user", content: "Tell" };
const compose = (body: JsonObject, how: Partial<Compose>) => chat.compose(chat.read(body), { ...AS_ASKED, ...how });
const partial = (text: string, reasoning = "") => ({ text, reasoning });

describe("fields", () => {
  test("edge 61: what the client sent is kept, in its own order", () => {
    const body = { model: "m", seed: 7, messages: [user], logit_bias: { "5": -1 }, unknown: [1], max_tokens: null };
    expect(JSON.stringify(compose(body, {}))).toBe(JSON.stringify(body));
  });

  test("edge 98, B18: exactly one cap field is sent", () => {
    const cap = { field: "max_tokens", tokens: 100 };
    expect(compose({ messages: [user], max_tokens: 900 }, { cap })).toEqual({ messages: [user], max_tokens: 100 });
    expect(compose({ messages: [user], max_completion_tokens: 900 }, { cap })).toEqual({
      messages: [user],
      max_tokens: 100,
    });
    expect(compose({ messages: [user], max_tokens: -1, n_predict: 3 }, { cap })).toEqual({
      messages: [user],
      max_tokens: 100,
    });
    expect(compose({ messages: [user] }, { cap })).toEqual({ messages: [user], max_tokens: 100 });
  });

  test("B18: of two caps only the smaller is sent, also where lastword changes none", () => {
    const body = { messages: [user], max_tokens: 9, max_completion_tokens: 7 };
    expect(compose(body, {})).toEqual({ messages: [user], max_completion_tokens: 7 });
  });

  test("B12: no cap is left as it was written", () => {
    expect(compose({ messages: [user], max_tokens: -1 }, {})).toEqual({ messages: [user], max_tokens: -1 });
  });

  test("B66: objects are merged one level deep, the client's own is not touched", () => {
    const body = { messages: [user], stream_options: { other: 1 }, response_format: { type: "json_object" } };
    const set = { stream_options: { include_usage: true }, add_generation_prompt: false };
    expect(compose(body, { set, without: ["response_format"] })).toEqual({
      messages: [user],
      stream_options: { other: 1, include_usage: true },
      add_generation_prompt: false,
    });
    expect(body).toEqual({ messages: [user], stream_options: { other: 1 }, response_format: { type: "json_object" } });
  });

  test("a thinking budget is set beside what else is asked of reasoning", () => {
    const body = { messages: [user], reasoning: { max_tokens: 900, exclude: false } };
    expect(compose(body, { thinkingBudget: 50 }).reasoning).toEqual({ max_tokens: 50, exclude: false });
  });
});

describe("going on with the same message", () => {
  test("the partial reply is the last message", () => {
    const how: Partial<Compose> = { how: "resume", partial: partial("Once "), mark: { prefix: true } };
    expect(compose({ messages: [user] }, how).messages).toEqual([
      user,
      { role: "assistant", content: "Once ", prefix: true },
    ]);
  });

  test("edge 88: inside a thought", () => {
    expect(compose({ messages: [user] }, { how: "resume", partial: partial("", "Let me") }).messages).toEqual([
      user,
      { role: "assistant", content: "", reasoning_content: "Let me" },
    ]);
  });

  test.each([
    ["text", "Dear ", "Dear Ann"],
    ["parts", [{ type: "text", text: "Dear " }], [{ type: "text", text: "Dear Ann" }]],
    ["parts without text", [{ type: "image" }], [{ type: "image" }, { type: "text", text: "Ann" }]],
    ["nothing", null, "Ann"],
  ])("edge 74: the client's own prefill of %s grows, no second message follows", (_, content, grown) => {
    const prefill = { role: "assistant", content, name: "bot" };
    const sent = compose({ messages: [user, prefill] }, { how: "resume", partial: partial("Ann") });
    expect(sent.messages).toEqual([user, { role: "assistant", content: grown, name: "bot" }]);
    expect(prefill.content).toBe(content);
  });

  test("edge 75: what stands before is untouched", () => {
    const messages = [
      user,
      { role: "tool", tool_call_id: "1", content: [{ type: "text", text: "42", cache_control: {} }] },
    ];
    const sent = compose({ messages }, { how: "resume", partial: partial("So") });
    expect(sent.messages).toEqual([...messages, { role: "assistant", content: "So" }]);
  });
});

describe("asking for the rest", () => {
  test("edges 73, 76: one assistant turn and one user turn", () => {
    const sent = compose(
      { messages: [user] },
      { how: "nudge", partial: partial("Once", "hm"), nudge: "Go on.", mark: { prefix: true } },
    );
    expect(sent.messages).toEqual([user, { role: "assistant", content: "Once" }, { role: "user", content: "Go on." }]);
  });

  test("edge 74: the client's own prefill and the partial reply are one turn", () => {
    const messages = [user, { role: "assistant", content: "Dear " }];
    expect(compose({ messages }, { how: "nudge", partial: partial("Ann"), nudge: "Go on." }).messages).toEqual([
      user,
      { role: "assistant", content: "Dear Ann" },
      { role: "user", content: "Go on." },
    ]);
  });

  test("edge 87: there is never an empty assistant turn", () => {
    expect(
      compose({ messages: [user] }, { how: "nudge", partial: partial("", "hm"), nudge: "Go on." }).messages,
    ).toEqual([user]);
    expect(compose({ messages: [user] }, { how: "resume", partial: partial("") }).messages).toEqual([user]);
  });
});
