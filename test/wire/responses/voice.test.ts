import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failure } from "../../../src/core/error.ts";
import { asArray, asObject, type JsonObject } from "../../../src/core/json.ts";
import { emptyReply, take } from "../../../src/core/reply.ts";
import { responses } from "../../../src/wire/responses/responses.ts";
import { sse } from "../../support/sse.ts";
import { Client, CUT, DONE, events, recorded, recordedBody, usage } from "../client.ts";
import { hear } from "./hear.ts";
import { type Item, OpenAi } from "./openai.ts";

const ASK = { input: "Say hello.", stream: true, tools: [{ type: "custom", name: "patch" }] };
const TOOLS = { kind: "tools", raw: "completed" } as const;
const CAP = { kind: "cap", raw: "max_output_tokens" } as const;

function client(): Client {
  return new Client(responses, ASK, "req");
}

function message(...pieces: string[]): Item {
  return { is: "message", pieces };
}

/** A stream whose last item was cut, with the cap's own ending. */
function cut(id: string, ...items: Item[]): string {
  return OpenAi.whole(id, items, "incomplete", "max_output_tokens");
}

describe("what no part has", () => {
  test("what the server's own tools make in a later pass stands in its place, under an id of its own", () => {
    const search = (id: string, status: string) => ({
      id,
      type: "web_search_call",
      status,
      action: { type: "search" },
    });
    const searched = (id: string): string =>
      events(
        { type: "response.output_item.added", sequence_number: 2, output_index: 0, item: search(id, "in_progress") },
        { type: "response.web_search_call.searching", sequence_number: 3, output_index: 0, item_id: id },
        { type: "response.output_item.done", sequence_number: 4, output_index: 0, item: search(id, "completed") },
      );
    const created = (id: string) => new OpenAi(id).created();
    for (const [later, told] of [
      ["ws_2", "ws_2"],
      ["ws_1", "ws_1_2"],
    ] as const) {
      const stream = client()
        .first(
          created("1") +
            searched("ws_1") +
            cut("1", message("Hel", "lo "))
              .split("\n\n")
              .slice(2)
              .join("\n\n")
              .replaceAll('"output_index":0', '"output_index":1'),
        )
        .later(created("2") + searched(later) + OpenAi.whole("2", [message("wor", "ld")]));
      const items = stream.finish(DONE, usage(9, 10)).events;
      const output = items
        .filter((event) => event.type === "response.output_item.done")
        .map((event) => asObject(event.item));
      expect(output.map((item) => [item?.id, item?.status])).toEqual([
        ["ws_1", "completed"],
        ["message_1_0", "completed"],
        [told, "completed"],
        ["message_2_0", "completed"],
      ]);
      const searching = items.filter((event) => event.type === "response.web_search_call.searching");
      expect(searching.map((event) => [event.item_id, event.output_index])).toEqual([
        ["ws_1", 0],
        [told, 2],
      ]);
    }
  });
});

describe("whole byte streams", () => {
  test("edges 62, 65: a text cut and resumed on a server that numbers nothing", async () => {
    const told = client()
      .first(recorded("responses-text-cut.sse"))
      .later(recorded("responses-text-rest.sse"))
      .finish(DONE, usage(19, 11, { input_tokens_details: { cached_tokens: 18 } }));
    await expect(told.heard).toMatchFileSnapshot("golden/text-llamacpp.sse");
    const names = (stream: string) => stream.split("\n").filter((line) => line.startsWith("event:"));
    expect(names(told.heard)).toEqual(names(recorded("responses-text-whole.sse")));
    expect(told.heard).not.toMatch(/sequence_number|_index/);
  });

  test("edges 62, 65: a text cut and resumed", async () => {
    const told = client()
      .first(cut("1", message("Hel", "lo ")))
      .later(OpenAi.whole("2", [message("wor", "ld")]));
    const heard = told.finish(DONE, usage(9, 10)).heard;
    await expect(heard).toMatchFileSnapshot("golden/text.sse");
    expect(hear(told.events)).toMatchObject({
      id: "resp_1",
      status: "completed",
      incomplete_details: null,
      output: [{ id: "message_1_0", status: "completed", content: [{ text: "Hello world" }] }],
      usage: { input_tokens: 9, output_tokens: 10, total_tokens: 19 },
    });
  });

  test("B99: a text given up says so, with the report in its terminal event", async () => {
    const told = client()
      .first(cut("1", message("Hel", "lo ")))
      .finish({ kind: "cap", raw: "length" }, usage(9, 5), CUT);
    await expect(told.heard).toMatchFileSnapshot("golden/text-cut.sse");
    expect(hear(told.events)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete", content: [{ text: "Hello " }] }],
      lastword: { outcome: "cut_off" },
    });
  });

  test("the untouched tail, annotated", async () => {
    const stream = cut("1", message("Hello"));
    const heard = client().first(stream).annotate(CUT).heard;
    await expect(heard).toMatchFileSnapshot("golden/text-annotated.sse");
    expect(heard.replace(/,"lastword":\{.*?\}/, "")).toBe(stream);
  });

  test("edge 77: a text, then a call that a later pass made whole", async () => {
    const call: Item = { is: "call", name: "look", pieces: ['{"at"', ":1}"] };
    const told = client()
      .first(cut("1", message("I look."), call), { calls: false })
      .later(OpenAi.whole("2", [call]))
      .finish(TOOLS, usage(9, 8));
    await expect(told.heard).toMatchFileSnapshot("golden/call.sse");
    expect(hear(told.events).output).toMatchObject([
      { content: [{ text: "I look." }] },
      { type: "function_call", name: "look", arguments: '{"at":1}', status: "completed" },
    ]);
  });

  test("B102: a failure is one terminal event with a typed error", async () => {
    const why = failure("upstream_stalled", "Nothing came for 600 s.", { seconds: 600 });
    const told = client()
      .first(cut("1", message("Hello")))
      .fail(why);
    await expect(told.heard).toMatchFileSnapshot("golden/failure.sse");
    expect(hear(told.events)).toMatchObject({ id: "resp_1", status: "failed", error: { code: "upstream_stalled" } });
  });

  test("a plain body told as a stream", async () => {
    const body = {
      id: "resp_1",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "m",
      output: [
        { id: "rs_1", type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
        { id: "ws_1", type: "web_search_call", status: "completed" },
        {
          id: "msg_1",
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", annotations: [], text: "I look." }],
        },
        { id: "fc_1", type: "function_call", status: "completed", call_id: "c", name: "look", arguments: '{"at":1}' },
      ],
      usage: { input_tokens: 9, output_tokens: 8, total_tokens: 17 },
      lastword: { outcome: "healed" },
    };
    const told = client().stream(body);
    await expect(told.heard).toMatchFileSnapshot("golden/body.sse");
    expect(hear(told.events)).toEqual(body);
  });
});

describe("items", () => {
  test("edge 88: a thought cut and resumed goes on in its item, and the answer follows in the next", () => {
    const told = client()
      .first(recorded("responses-thought-cut.sse"))
      .later(recorded("responses-thought-rest.sse"), { resumes: "reasoning" })
      .finish(DONE, usage(21, 512));
    const whole = asArray(recordedBody("responses-thought-whole.json").output).map((item) => asObject(item)?.content);
    const output = asArray(asObject(told.events.at(-1)?.response)?.output);
    expect(output.map((item) => texts(asObject(item)))).toEqual(
      whole.map((content) => texts({ content: content ?? [] })),
    );
    expect(told.types.filter((type) => type === "response.output_item.added")).toHaveLength(2);
  });

  test("a call that was cut is let go, and the whole one bears the id that its own pass gave it", () => {
    const told = client()
      .first(recorded("responses-call-cut.sse"), { calls: false })
      .later(recorded("responses-call-whole.sse"))
      .finish(TOOLS, usage(120, 446));
    const id = /"id":"(fc_\w+)"/.exec(recorded("responses-call-whole.sse"))?.[1];
    expect(told.events.at(-1)?.response).toMatchObject({ output: [{ id, type: "function_call", name: "write_file" }] });
    expect(told.heard).not.toMatch(/_index/);
  });

  test("an item that had begun and held nothing is used", () => {
    const server = new OpenAi("1");
    const begun = server.created() + server.open(message());
    const told = client()
      .first(begun)
      .later(OpenAi.whole("2", [message("Hello")]))
      .finish(DONE);
    expect(hear(told.events).output).toMatchObject([{ id: "message_1_0", content: [{ text: "Hello" }] }]);
  });

  test("a done that has flowed is not told again", () => {
    const first = OpenAi.whole("1", [{ is: "reasoning", pieces: ["Hm."] }, message("Hi")]);
    const told = client()
      .first(first)
      .later(OpenAi.whole("2", [message("!")]))
      .finish(DONE);
    expect(hear(told.events).output).toMatchObject([{ content: [{ text: "Hm." }] }, { content: [{ text: "Hi!" }] }]);
    expect(told.types.filter((type) => type === "response.reasoning_text.done")).toHaveLength(1);
  });

  test("pieces of other wires: calls with names of their own, one after the other, plain text for custom tools", () => {
    const told = client()
      .first(cut("1", message("Hi")))
      .say([{ kind: "text", block: 0, text: " there" }])
      .say([
        { kind: "tool", block: 7, id: "call_1", name: "look", args: "" },
        { kind: "tool", block: 7, id: "", name: "", args: '{"at":1}' },
        { kind: "tool", block: 8, id: "", name: "patch", args: "+ lamp" },
      ])
      .finish(TOOLS);
    expect(hear(told.events).output).toMatchObject([
      { content: [{ text: "Hi there" }] },
      { id: "fc_1_1", type: "function_call", call_id: "call_1", arguments: '{"at":1}' },
      { id: "ctc_1_2", type: "custom_tool_call", call_id: "call_1_2", name: "patch", input: "+ lamp" },
    ]);
  });

  test("a refusal goes on as a refusal", () => {
    const item = { id: "m", type: "message", role: "assistant", content: [] };
    const at = { item_id: "m", output_index: 0, content_index: 0 };
    const first = numbered(
      { type: "response.created", response: { id: "resp_1", output: [] } },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.content_part.added", ...at, part: { type: "refusal", refusal: "" } },
      { type: "response.refusal.delta", ...at, delta: "I can" },
    );
    const told = client()
      .first(first)
      .say([{ kind: "text", block: 0, text: "not." }])
      .finish(DONE);
    expect(hear(told.events).output).toMatchObject([{ content: [{ type: "refusal", refusal: "I cannot." }] }]);
  });

  test("edge 93: sealed reasoning of a later pass goes on as its own, seal and all", () => {
    const at = { item_id: "rs", output_index: 0 };
    const begun = { id: "rs", type: "reasoning", summary: [] };
    const part = { type: "summary_text", text: "In short" };
    const whole = { ...begun, summary: [part], encrypted_content: "abc" };
    const later = numbered(
      { type: "response.output_item.added", output_index: 0, item: begun },
      { type: "response.reasoning_summary_part.added", ...at, summary_index: 0, part: { ...part, text: "" } },
      { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta: "In short" },
      { type: "response.output_item.done", output_index: 0, item: whole },
    );
    const seal = { kind: "sealed_reasoning", block: 10_000 } as const;
    const told = client().first(new OpenAi("1").created()).later(later);
    told.say([seal], responses.frame("", later.slice(later.lastIndexOf("data: ") + 6)));
    expect(hear(told.finish(DONE).events).output).toEqual([whole]);
  });

  test("a summary that was cut is closed with what was shown of it", () => {
    const at = { item_id: "rs", output_index: 0, summary_index: 0 };
    const first = numbered(
      { type: "response.created", response: { id: "resp_1", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { id: "rs", type: "reasoning", summary: [] } },
      { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
      { type: "response.reasoning_summary_text.delta", ...at, delta: "In sh" },
    );
    const told = client()
      .first(first)
      .later(OpenAi.whole("2", [message("Hi")]))
      .finish(DONE);
    expect(hear(told.events).output).toMatchObject([
      { summary: [{ type: "summary_text", text: "In sh" }] },
      { content: [{ text: "Hi" }] },
    ]);
  });

  test("nothing had begun: a response under a name of our own", () => {
    const told = client()
      .say([{ kind: "text", block: 0, text: "Hi" }])
      .finish(DONE, usage(9, 1));
    expect(hear(told.events)).toMatchObject({ id: "resp_req", model: "reciter", output: [{ id: "msg_req_0" }] });
    const failed = client().fail(failure("upstream_unreachable", "No answer."));
    expect(hear(failed.events)).toMatchObject({ id: "resp_req", status: "failed" });
  });

  test("edge 59: log probabilities of all passes, where they spell the text", () => {
    const spelled = (text: string) => [{ token: text, logprob: -0.5 }];
    const piece = (text: string, logprobs: JsonObject[]) => {
      const at = { item_id: "m", output_index: 0, content_index: 0 };
      return { type: "response.output_text.delta", ...at, delta: text, logprobs };
    };
    const whole = (later: JsonObject[]) => {
      const first = new OpenAi("1");
      const begun = first.created() + first.open(message());
      const told = client()
        .first(begun)
        .later(events(piece("Hel", spelled("Hel")), piece("lo", later)))
        .finish(DONE);
      return asObject(asArray(asObject(asArray(hear(told.events).output)[0])?.content)[0])?.logprobs;
    };
    expect(whole(spelled("lo"))).toEqual([...spelled("Hel"), ...spelled("lo")]);
    expect(whole([])).toEqual([]);
  });

  test("unknown fields of the upstream's own piece survive, its numbers and its padding do not", () => {
    const piece = {
      type: "response.output_text.delta",
      item_id: "x",
      output_index: 9,
      content_index: 9,
      delta: "lo",
      obfuscation: "pad",
      speed: 3,
    };
    const told = client()
      .first(cut("1", message("Hel")))
      .later(events(piece));
    const at = { item_id: "message_1_0", output_index: 0, content_index: 0 };
    expect(told.events.at(-1)).toEqual({ type: piece.type, sequence_number: 5, ...at, delta: "lo", speed: 3 });
  });

  test("law: however a reply is cut, the client hears the same items", () => {
    const pieces = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 });
    const items = fc
      .array(fc.record({ is: fc.constantFrom("message" as const, "reasoning" as const), pieces }), {
        minLength: 1,
        maxLength: 4,
      })
      // Side by side items of one kind are one thing that goes on.
      .map((all) => all.filter((one, i) => one.is !== all[i - 1]?.is));
    fc.assert(
      fc.property(items, fc.nat(8), (all, at) => {
        const server = new OpenAi("1");
        let first = server.created();
        let left = at;
        const rest: { readonly block: number; readonly item: Item; readonly piece: string }[] = [];
        all.forEach((item, block) => {
          const shown = item.pieces.slice(0, left);
          rest.push(...item.pieces.slice(left).map((piece) => ({ block, item, piece })));
          if (shown.length > 0) first += server.open(item) + shown.map((piece) => server.piece(item, piece)).join("");
          if (shown.length === item.pieces.length) first += server.close(item, shown.join(""));
          left = Math.max(0, left - item.pieces.length);
        });
        const told = client().first(first);
        for (const { block, item, piece } of rest) {
          told.say([{ kind: item.is === "message" ? "text" : "reasoning", block, text: piece }]);
        }
        const output = asArray(hear(told.finish(DONE).events).output);
        expect(output.map((item) => texts(asObject(item)).join(""))).toEqual(all.map((item) => item.pieces.join("")));
      }),
    );
  });
});

describe("the end", () => {
  test.each([
    [{ kind: "done", raw: "stop" }, "completed", null],
    [{ kind: "tools", raw: "tool_calls" }, "completed", null],
    [{ kind: "cap", raw: "length" }, "incomplete", "max_output_tokens"],
    [{ kind: "cap", raw: "max_tokens" }, "incomplete", "max_tokens"],
    [{ kind: "window", raw: "length" }, "incomplete", "max_output_tokens"],
    [{ kind: "filter", raw: "content_filter" }, "incomplete", "content_filter"],
    [{ kind: "other", raw: "future_reason" }, "incomplete", "future_reason"],
    [{ kind: "other", raw: "incomplete" }, "incomplete", null],
  ] as const)("B104: %j is told as %s for %s", (finish, status, reason) => {
    const told = client()
      .first(cut("1", message("Hi")))
      .finish(finish);
    const incomplete_details = reason === null ? null : { reason };
    expect(hear(told.events)).toMatchObject({ status, incomplete_details });
    expect(told.types.at(-1)).toBe(`response.${status}`);
  });

  test("what the client asked for stands as the first pass told it, what only the end tells as the last did", () => {
    const created = {
      type: "response.created",
      response: { id: "resp_1", max_output_tokens: 5, completed_at: null, output: [] },
    };
    const end = { id: "resp_2", status: "completed", max_output_tokens: 4096, completed_at: 7, output: [], tier: "x" };
    const later = events({ type: "response.completed", response: end });
    const told = client().first(events(created)).later(later).finish(DONE);
    expect(told.events.at(-1)?.response).toMatchObject({
      id: "resp_1",
      max_output_tokens: 5,
      completed_at: 7,
      tier: "x",
    });
  });

  test("[DONE] where the upstream says so (OpenRouter)", () => {
    const told = client()
      .first(cut("1", message("Hel")))
      .later(OpenAi.whole("2", [message("lo")]) + sse("[DONE]"))
      .finish(DONE);
    expect(told.heard).toMatch(/\n\ndata: \[DONE\]\n\n$/);
  });
});

describe("plain bodies", () => {
  const said = (text: string) => {
    const reply = emptyReply();
    take(reply, { kind: "text", block: 0, text });
    return reply;
  };

  test("edge 67: the first body with everything joined", () => {
    const first = { ...recordedBody("responses-text-cut.json"), note: "kept" };
    const reply = said("Hello there! The workshop is open.");
    const later = [{ completed_at: 9, output: [] }];
    const body = client().body(first, { finish: DONE, reply, usage: usage(19, 11), report: CUT, later });
    expect(body).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      note: "kept",
      completed_at: 9,
      status: "completed",
      output: [{ id: expect.stringMatching(/^msg_/), content: [{ text: "Hello there! The workshop is open." }] }],
      usage: { input_tokens: 19, output_tokens: 11, total_tokens: 30 },
      lastword: { outcome: "cut_off" },
    });
  });

  test("B99: a body given up says so", () => {
    const first = {
      output: [{ type: "message", id: "m", status: "completed", content: [{ type: "output_text", text: "Hel" }] }],
    };
    expect(client().body(first, { finish: CAP, reply: said("Hel") })).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete" }],
    });
  });

  test("sealed reasoning, server tools and parts of one message keep their places", () => {
    const thought = { type: "reasoning", id: "rs", summary: [], encrypted_content: "abc" };
    const search = { type: "web_search_call", id: "ws", status: "completed" };
    const part = (text: string) => ({ type: "output_text", annotations: [{ url: text }], text });
    const spoken = {
      type: "message",
      id: "m",
      status: "incomplete",
      role: "assistant",
      content: [part("The"), part(" la")],
    };
    const first = { status: "incomplete", output: [thought, search, spoken] };
    const reply = emptyReply();
    for (const told of responses.parts(first)) take(reply, told);
    for (const block of reply.blocks) if (block.text === " la") block.text += "mp.";
    expect(client().body(first, { finish: DONE, reply }).output).toEqual([
      thought,
      search,
      { ...spoken, status: "completed", content: [part("The"), { ...part(" la"), text: " lamp." }] },
    ]);
  });

  test("a reply that was asked again keeps nothing of the body that was let go", () => {
    const call = {
      type: "function_call",
      id: "fc",
      call_id: "c",
      name: "look",
      arguments: "{}",
      status: "completed",
      extra: 1,
    };
    const reply = emptyReply();
    for (const part of responses.parts({ output: [call] })) take(reply, part);
    const first = recordedBody("responses-call-cut.json");
    expect(client().body(first, { finish: TOOLS, reply, later: [{ output: [call] }] }).output).toEqual([call]);
  });

  test("edge 59: log probabilities of all bodies, where they spell the text", () => {
    const body = (text: string) => {
      const part = { type: "output_text", text, annotations: [], logprobs: [{ token: text, logprob: -0.5 }] };
      return { output: [{ type: "message", id: "m", content: [part] }] };
    };
    const joined = (text: string) =>
      client().body(body("Hel"), { finish: DONE, reply: said(text), later: [body("lo")] });
    const tokens = [{ token: "Hel" }, { token: "lo" }];
    expect(joined("Hello")).toMatchObject({ output: [{ content: [{ text: "Hello", logprobs: tokens }] }] });
    expect(joined("Hello!")).toMatchObject({ output: [{ content: [{ text: "Hello!", logprobs: [] }] }] });
  });

  test("the upstream streamed although not asked to: the response as it began and ended", () => {
    const told = client().first(recorded("responses-text-whole.sse"));
    expect(told.body(null, { finish: DONE, reply: told.reply, usage: usage(19, 12) })).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      model: "reciter",
      status: "completed",
      output: [{ type: "message", content: [{ text: "Hello there! The workshop is open." }] }],
      usage: { total_tokens: 31 },
    });
  });
});

test("errors and heartbeats in the wire's own shape", () => {
  const why = failure("context_length_exceeded", "This model's maximum", { window: 4096 }, "input");
  expect(responses.error(why)).toEqual({
    error: {
      message: why.message,
      type: "invalid_request_error",
      param: "input",
      code: why.code,
      lastword: { window: 4096 },
    },
  });
  expect(responses.heartbeat("empty-delta")).toBe(": keep-alive\n");
});

function numbered(...all: JsonObject[]): string {
  return events(...all.map(({ type, ...rest }, sequence_number) => ({ type, sequence_number, ...rest })));
}

function texts(item: JsonObject | undefined): unknown[] {
  return asArray(item?.content).map((part) => asObject(part)?.text);
}
