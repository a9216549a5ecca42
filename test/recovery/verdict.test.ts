import { describe, expect, test } from "vitest";
import type { Ask } from "../../src/core/ask.ts";
import type { Part } from "../../src/core/part.ts";
import { verdictOf } from "../../src/recovery/evidence.ts";
import { judge, needs, type Verdict } from "../../src/recovery/verdict.ts";
import { check } from "../../src/schema/check.ts";
import { ask, D, type Ended, pass, R, SEALED, T } from "./passes.ts";

const write = {
  name: "write_file",
  schema: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
  },
};
const tools = ask({
  tools: [
    write,
    { name: "now", schema: { type: "object" } },
    { name: "any", schema: undefined },
    { name: "patch", schema: undefined, freeform: true },
  ],
});
const list = ask({
  structured: {
    kind: "json_schema",
    schema: {
      type: "object",
      properties: { id: { type: "number" }, items: { type: "array" } },
      required: ["id", "items"],
    },
  },
});
const object = ask({ structured: { kind: "json_object" } });
const plain = ask();

const validate = async (schema: unknown, text: string) => check(JSON.stringify(schema ?? true), text);

/** A verdict in short: `cut reply_cap text`, with `limit=`, `window=`, `looping` and `odd` where there are any. */
async function verdict(asked: Ask, parts: readonly Part[], ended: Ended): Promise<string> {
  return short(await verdictOf(asked, pass(parts, ended), validate));
}

function short(found: Verdict): string {
  switch (found.kind) {
    case "whole":
      return found.odd === null ? "whole" : `whole ${found.odd}`;
    case "cut":
      return [
        `cut ${found.cause} ${found.where}`,
        ...(found.limit === null ? [] : [`limit=${found.limit}`]),
        ...(found.window === null ? [] : [`window=${found.window}`]),
        ...(found.looping ? ["looping"] : []),
      ].join(" ");
    case "malformed":
      return `malformed ${found.what}`;
    case "stopped":
      return `stopped ${found.by}${found.halfCall ? " half call" : ""}`;
    case "nothing":
    case "failed":
      return found.kind;
    default:
      return found satisfies never;
  }
}

type Row = [name: string, asked: Ask, parts: Part[], ended: Ended, verdict: string];

const detection: Row[] = [
  ["edge 1: `length` with text", plain, [D("and so")], { finish: "length", usage: [10, 1000] }, "cut reply_cap text"],
  ["edge 1: at cap - 1", plain, [D("and so")], { finish: "length", usage: [10, 999] }, "cut reply_cap text"],
  ["edge 1: without usage", plain, [D("and so")], { finish: "length" }, "cut reply_cap text"],
  ["edge 2: `stop` at cap - 1, mid-word", plain, [D("imple")], { finish: "stop", usage: [10, 999] }, "whole at_cap"],
  [
    "edge 3: `stop` with an open fence below the cap",
    plain,
    [D("```py\nx = ")],
    { finish: "stop", usage: [10, 50] },
    "whole",
  ],
  [
    "edge 4: `tool_calls`, arguments open, at the cap",
    tools,
    [T(0, "write_file", '{"path":"a')],
    { finish: "tool_calls", usage: [10, 1000] },
    "cut reply_cap tool",
  ],
  [
    "edge 4: `tool_calls`, arguments open, no usage",
    tools,
    [T(0, "write_file", '{"path":"a')],
    { finish: "tool_calls" },
    "cut reply_cap tool",
  ],
  [
    "edge 4: `tool_calls`, arguments open, below the cap",
    tools,
    [T(0, "write_file", '{"path":"a')],
    { finish: "tool_calls", usage: [10, 150] },
    "cut provider_cap tool",
  ],
  [
    "edge 4: `stop`, arguments open",
    tools,
    [T(0, "write_file", '{"path":"a"')],
    { finish: "stop", usage: [10, 1000] },
    "cut reply_cap tool",
  ],
  [
    "edge 4: `[DONE]` without a reason, arguments open",
    tools,
    [T(0, "write_file", '{"path":"a"')],
    {},
    "cut reply_cap tool",
  ],
  [
    "edge 5: `length`, but the call is whole",
    tools,
    [T(0, "write_file", '{"path":"a","content":"b"}')],
    { finish: "length", usage: [10, 1000] },
    "whole",
  ],
  ["edge 5: the call takes any object", tools, [T(0, "now", "{}")], { finish: "length" }, "whole"],
  ["edge 5: the tool has no schema", tools, [T(0, "any", '{"x":1}')], { finish: "length" }, "whole"],
  [
    "edge 6: the body ends with neither finish nor terminal event",
    plain,
    [D("and so")],
    { end: "eof" },
    "cut upstream_broken text",
  ],
  ["edge 6: the connection is lost", plain, [D("and so")], { end: "broken" }, "cut upstream_broken text"],
  ["edge 6: silence", plain, [D("and so")], { end: "stalled" }, "cut upstream_broken text"],
  ["edge 7: a finish, but no `[DONE]`", plain, [D("done.")], { finish: "stop", end: "eof" }, "whole"],
  ["edge 8: a finish, and the socket stays open", plain, [D("done.")], { finish: "stop", end: "stalled" }, "whole"],
  ["edge 9: a fault behind the finish", plain, [D("done.")], { finish: "stop", end: "fault" }, "whole"],
  ["edge 11: a content filter", plain, [D("half")], { finish: "content_filter", usage: [10, 1000] }, "stopped filter"],
  [
    "edge 11: a content filter within a call",
    tools,
    [T(0, "write_file", '{"pa')],
    { finish: "content_filter" },
    "stopped filter half call",
  ],
  ["edge 12: `pause_turn`", plain, [D("so far")], { finish: "pause_turn" }, "stopped pause"],
  ["edge 12: a stop sequence at the cap", plain, [D("so far")], { finish: "stop", usage: [10, 1000] }, "whole at_cap"],
  ["edge 13: `error` as finish", plain, [D("half")], { finish: "error" }, "failed"],
  ["edge 13: an error in the stream", plain, [D("half")], { end: "fault" }, "failed"],
  [
    "edge 14: the window is full by the server's word",
    plain,
    [D("half")],
    { finish: "model_context_window_exceeded" },
    "cut context_full text",
  ],
  [
    "edge 14: prompt and reply reach the window",
    plain,
    [D("half")],
    { finish: "length", usage: [32_638, 130], window: 32_768, cap: null },
    "cut context_full text",
  ],
  [
    "edge 14: all but 16 tokens",
    plain,
    [D("half")],
    { finish: "length", usage: [4000, 80], window: 4096 },
    "cut context_full text",
  ],
  [
    "edge 14: not by 17 tokens",
    plain,
    [D("half")],
    { finish: "length", usage: [4000, 79], window: 4096 },
    "cut provider_cap text limit=79",
  ],
  [
    "edge 14: by our own count",
    plain,
    [D("half")],
    { finish: "length", counted: [32_638, 130], window: 32_768, cap: null },
    "cut context_full text",
  ],
  [
    "edge 14: the cap was lowered to the room",
    plain,
    [D("half")],
    { finish: "length", usage: [3000, 500], window: 4096, cap: 500, reason: "room" },
    "cut context_full text",
  ],
  [
    "edge 17: no cap was sent",
    plain,
    [D("half")],
    { finish: "length", usage: [10, 4096], cap: null },
    "cut provider_cap text",
  ],
  [
    "edge 18: nothing came of going on",
    plain,
    [D("The end.")],
    { finish: "stop", usage: [10, 1], silent: true },
    "whole",
  ],
];

const calls: Row[] = [
  [
    "edge 77: text, then a cut call",
    tools,
    [D("I write."), T(0, "write_file", '{"path"')],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  [
    "edge 78: two calls, the second cut",
    tools,
    [T(0, "now", "{}"), T(1, "write_file", '{"path":"a"')],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  [
    "edge 78: two calls, the first cut",
    tools,
    [T(0, "write_file", '{"path":"a"'), T(1, "now", "{}")],
    { finish: "tool_calls" },
    "cut reply_cap tool",
  ],
  ["edge 78: two calls, both whole", tools, [T(0, "now", "{}"), T(1, "now", "{}")], { finish: "length" }, "whole"],
  [
    "edge 79: a brace away from parsing",
    tools,
    [T(0, "write_file", '{"path":"a","content":"b"')],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  [
    "a call is whole, text behind it is cut",
    tools,
    [T(0, "now", "{}"), D("and th")],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  ["a call whose body ends without a finish", tools, [T(0, "now", "{}")], { end: "eof" }, "cut upstream_broken tool"],
  [
    "a call beyond a schema's reading",
    ask({ tools: [{ name: "odd", schema: { type: "text" } }] }),
    [T(0, "odd", "{}")],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  [
    "the same, called done",
    ask({ tools: [{ name: "odd", schema: { type: "text" } }] }),
    [T(0, "odd", "{}")],
    { finish: "tool_calls" },
    "whole",
  ],
  ["plain text as arguments", tools, [T(0, "patch", "*** Begin Patch")], { finish: "tool_calls" }, "whole"],
  [
    "plain text as arguments, cut",
    tools,
    [T(0, "patch", "*** Begin Patch")],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  ["no arguments yet", tools, [T(0, "now", "")], { finish: "length" }, "cut reply_cap tool"],
  [
    "no arguments yet, at the cap",
    tools,
    [T(0, "write_file", "")],
    { finish: "tool_calls", usage: [10, 1000] },
    "cut reply_cap tool",
  ],
  [
    "no arguments, but some are needed",
    tools,
    [T(0, "write_file", "")],
    { finish: "tool_calls" },
    "cut reply_cap tool",
  ],
  [
    "no arguments, none needed, at the cap",
    tools,
    [T(0, "now", "")],
    { finish: "tool_calls", usage: [10, 1000] },
    "whole",
  ],
  [
    "closed, at the cap, and not what the schema wants",
    tools,
    [T(0, "write_file", '{"path":"a"}')],
    { finish: "tool_calls", usage: [10, 1000] },
    "cut reply_cap tool",
  ],
  [
    "arguments that nothing could mend",
    tools,
    [T(0, "write_file", '{"path":"a",}')],
    { finish: "tool_calls", usage: [10, 20] },
    "malformed tool",
  ],
  [
    "the same at the cap",
    tools,
    [T(0, "write_file", '{"path":"a",}')],
    { finish: "tool_calls", usage: [10, 1000] },
    "cut reply_cap tool",
  ],
  [
    "blanks without end",
    tools,
    [T(0, "write_file", `{"path":"a",${" ".repeat(300)}`)],
    { finish: "length" },
    "cut reply_cap tool looping",
  ],
];

const structured: Row[] = [
  ["whole although `length`", list, [D('{"id":7,"items":[]}')], { finish: "length", usage: [10, 1000] }, "whole"],
  ["whole although the stream was lost", list, [D('{"id":7,"items":[]}')], { end: "eof" }, "whole"],
  [
    "whole with blanks behind it until the cap",
    list,
    [D(`{"id":7,"items":[]}${"\n".repeat(400)}`)],
    { finish: "length" },
    "whole",
  ],
  [
    "edge 85: closed, but not what the schema wants",
    list,
    [D('{"id":7}')],
    { finish: "length" },
    "cut reply_cap structured",
  ],
  [
    "edge 85: the same, called done",
    list,
    [D('{"id":7}')],
    { finish: "stop", usage: [10, 20] },
    "malformed structured",
  ],
  [
    "edge 86: a whitespace loop",
    list,
    [D(`{"id":7,${"\n".repeat(300)}`)],
    { finish: "length" },
    "cut reply_cap structured looping",
  ],
  [
    "edge 86: a digit loop",
    list,
    [D(`{"id":7${"1".repeat(300)}`)],
    { finish: "length" },
    "cut reply_cap structured looping",
  ],
  [
    "`stop` at the cap, visibly open",
    list,
    [D('{"id":7,"items":[1')],
    { finish: "stop", usage: [10, 1000] },
    "cut reply_cap structured",
  ],
  [
    "`stop` at cap - 1, visibly open",
    list,
    [D('{"id":7,"items":[1')],
    { finish: "stop", usage: [10, 999] },
    "cut reply_cap structured",
  ],
  [
    "`stop` below the cap, open",
    list,
    [D('{"id":7,"items":[1')],
    { finish: "stop", usage: [10, 998] },
    "malformed structured",
  ],
  ["`stop` without usage, open", list, [D('{"id":7,"items":[1')], { finish: "stop" }, "malformed structured"],
  ["a fence around it", list, [D('```json\n{"id":7,"items":[]}\n```')], { finish: "stop" }, "malformed structured"],
  ["any object", object, [D('{"id":7}')], { finish: "length" }, "whole"],
  ["a list where an object was asked for", object, [D("[7]")], { finish: "stop" }, "malformed structured"],
  ["any object, open", object, [D('{"id":7')], { finish: "length" }, "cut reply_cap structured"],
  [
    "a number, called done",
    ask({ structured: { kind: "json_schema", schema: { type: "number" } } }),
    [D("42")],
    { finish: "stop" },
    "whole",
  ],
  [
    "a number, cut",
    ask({ structured: { kind: "json_schema", schema: { type: "number" } } }),
    [D("42")],
    { finish: "length" },
    "cut reply_cap structured",
  ],
  ["a thought in front of it", list, [D('<think>an id</think>\n{"id":7,"items":[]}')], { finish: "length" }, "whole"],
  [
    "a thought, and nothing of it yet",
    list,
    [D("<think>an id")],
    { finish: "length" },
    "cut reasoning_starved reasoning",
  ],
  ["a call in its place", ask({ ...list, tools: tools.tools }), [T(0, "now", "{}")], { finish: "tool_calls" }, "whole"],
  [
    "a schema that cannot be read",
    ask({ structured: { kind: "json_schema", schema: { type: "text" } } }),
    [D("{}")],
    { finish: "stop" },
    "whole",
  ],
  [
    "the same, cut",
    ask({ structured: { kind: "json_schema", schema: { type: "text" } } }),
    [D("{}")],
    { finish: "length" },
    "cut reply_cap structured",
  ],
];

const reasoning: Row[] = [
  [
    "edge 87: reasoning only",
    plain,
    [R("hmm")],
    { finish: "length", usage: [10, 1000] },
    "cut reasoning_starved reasoning",
  ],
  ["edge 87: sealed reasoning only", plain, [SEALED], { finish: "length" }, "cut reasoning_starved reasoning"],
  [
    "edge 87: reasoning, then a blank",
    plain,
    [R("hmm"), D("\n\n")],
    { finish: "length" },
    "cut reasoning_starved reasoning",
  ],
  ["edge 88: reasoning, then an answer", plain, [R("hmm"), D("The ")], { finish: "length" }, "cut reply_cap text"],
  [
    "edge 88: an answer, then reasoning again",
    plain,
    [D("The "), R("hmm")],
    { finish: "length" },
    "cut reply_cap reasoning",
  ],
  ["edge 88: the stream was lost in the thought", plain, [R("hmm")], { end: "eof" }, "cut upstream_broken reasoning"],
  [
    "edge 90: `<think>` in content, open",
    plain,
    [D("<thi"), D("nk>hmm")],
    { finish: "length" },
    "cut reasoning_starved reasoning",
  ],
  [
    "edge 90: `<think>` in content, closed",
    plain,
    [D("<think>hmm</th"), D("ink>The ")],
    { finish: "length" },
    "cut reply_cap text",
  ],
  [
    "edge 90: cut right behind the closing tag",
    plain,
    [D("<think>hmm</think>\n")],
    { finish: "length" },
    "cut reasoning_starved text",
  ],
  [
    "edge 93: a sealed thought within a turn",
    plain,
    [D("Let me see."), { kind: "sealed_reasoning", block: 1 }],
    { finish: "length" },
    "cut reply_cap reasoning",
  ],
  [
    "the provider's limit shows itself too",
    plain,
    [R("hmm")],
    { finish: "length", usage: [10, 500] },
    "cut reasoning_starved reasoning limit=500",
  ],
  [
    "the window's end outranks it",
    plain,
    [R("hmm")],
    { finish: "length", usage: [3096, 1000], window: 4096 },
    "cut context_full reasoning",
  ],
];

const reports: Row[] = [
  [
    "B17: believed 32768, ended at 4096",
    plain,
    [D("half")],
    { finish: "length", usage: [193, 3903], cap: 8000, window: 32_768, sure: false },
    "cut context_full text window=4096",
  ],
  [
    "B17: the window was never told",
    plain,
    [D("half")],
    { finish: "length", usage: [193, 3902], cap: null, sure: false },
    "cut context_full text window=4096",
  ],
  [
    "B17: the server says another window",
    plain,
    [D("half")],
    { finish: "length", usage: [193, 3903], cap: 8000, window: 32_768 },
    "cut provider_cap text limit=3903",
  ],
  [
    "B17: a provider's limit of 4096",
    plain,
    [D("half")],
    { finish: "length", usage: [4096, 4096], cap: 8000, sure: false },
    "cut provider_cap text limit=4096",
  ],
  [
    "B17: its own cap, which happens to end there",
    plain,
    [D("half")],
    { finish: "length", usage: [96, 1000], cap: 1000, sure: false },
    "cut reply_cap text",
  ],
  [
    "B17: nothing at once",
    plain,
    [],
    { finish: "length", usage: [4095, 1], sure: false },
    "cut context_full nothing window=4096",
  ],
  ["B21: a plain end of the body", plain, [D("The capital is")], { end: "eof" }, "cut upstream_broken text"],
  ["B21: the same with half a call", tools, [T(0, "write_file", '{"p')], { end: "eof" }, "cut upstream_broken tool"],
  ["B22 a: no finish, `[DONE]`", plain, [D("Hello")], {}, "whole"],
  ["B22 a: no finish, `[DONE]`, a whole call", tools, [T(0, "now", "{}")], {}, "whole"],
  ["B22 c: no finish, usage, `[DONE]`", plain, [D("Hello")], { usage: [10, 1] }, "whole"],
  [
    "B22 d: no finish, usage, end of the body",
    plain,
    [D("Hello")],
    { usage: [10, 1], end: "eof" },
    "cut upstream_broken text",
  ],
  ["B23: reset", plain, [D("ab")], { end: "broken" }, "cut upstream_broken text"],
  ["B24 a: an error at once", plain, [], { end: "fault" }, "failed"],
  [
    "B24 b: an error within a call",
    tools,
    [T(0, "write_file", '{"cmd":"ls')],
    { finish: "error", end: "fault" },
    "failed",
  ],
  [
    "B25: `stop` at the cap, mid-sentence",
    plain,
    [D("mid sent")],
    { finish: "stop", usage: [9, 20], cap: 20 },
    "whole at_cap",
  ],
  ["B25: its honest twin", plain, [D("The end.")], { finish: "stop", usage: [9, 20], cap: 20 }, "whole at_cap"],
  [
    "B25: `stop` at the cap of a server that hides cuts",
    plain,
    [D("mid sent")],
    { finish: "stop", usage: [9, 20], cap: 20, hidesCuts: true },
    "cut reply_cap text",
  ],
  [
    "the same below the cap",
    plain,
    [D("The end.")],
    { finish: "stop", usage: [9, 18], cap: 20, hidesCuts: true },
    "whole",
  ],
  [
    "the same, but whole by proof",
    list,
    [D('{"id":7,"items":[]}')],
    { finish: "stop", usage: [9, 20], cap: 20, hidesCuts: true },
    "whole",
  ],
  ["B27: reasoning and finish in one", plain, [R("hmm")], { finish: "length" }, "cut reasoning_starved reasoning"],
  ["B28: a word that is not known", plain, [D("Hello")], { finish: "eos" }, "whole"],
  ["B28: a filter, with nothing", plain, [], { finish: "content_filter" }, "stopped filter"],
  [
    "B29: `length` is no overflow",
    plain,
    [D("half")],
    { finish: "length", usage: [100, 1000], window: 4096 },
    "cut reply_cap text",
  ],
  [
    "B31: closed after a whole string it would parse",
    tools,
    [T(0, "write_file", '{"path":"notes.md","content":"first line"')],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  [
    "B31: a list",
    ask({ tools: [{ name: "run", schema: { type: "array" } }] }),
    [T(0, "run", '["npm install","npm test"')],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  [
    "B32: parses, and a required field is missing",
    tools,
    [T(0, "write_file", '{"path":"x.jac"}')],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  [
    "B32: the same, called done",
    tools,
    [T(0, "write_file", '{"path":"x.jac"}')],
    { finish: "tool_calls", usage: [10, 20] },
    "malformed tool",
  ],
  [
    "B33: a string cut in the middle",
    tools,
    [T(0, "write_file", '{"path":"a","content":"fir')],
    { finish: "length" },
    "cut reply_cap tool",
  ],
  ["B33: genuinely no arguments", tools, [T(0, "now", "")], { finish: "tool_calls", usage: [10, 5] }, "whole"],
  [
    "B38: a list that lost its last elements",
    list,
    [D('{"id":7,"items":["a1","b2"')],
    { finish: "length" },
    "cut reply_cap structured",
  ],
  ["B38: joined", list, [D('{"id":7,"items":["a1","b2"'), D(',"c3"]}')], { finish: "stop" }, "whole"],
  [
    "B40: the JSON stands in the reasoning",
    list,
    [R('{"id":7,"items":[]}')],
    { finish: "stop" },
    "malformed structured",
  ],
  [
    "B41: 199 of 200 were reasoning",
    plain,
    [R("hmm")],
    { finish: "length", usage: [10, 200, 199], cap: 200 },
    "cut reasoning_starved reasoning",
  ],
  [
    "B41: hidden reasoning",
    plain,
    [],
    { finish: "length", usage: [10, 200, 199], cap: 200 },
    "cut reasoning_starved nothing",
  ],
  [
    "B41: hidden, and not told",
    plain,
    [],
    { finish: "length", usage: [10, 200], cap: 200 },
    "cut reasoning_starved nothing",
  ],
  [
    "B42: reasoning only, `stop`, usage all zero",
    plain,
    [R("hmm")],
    { finish: "stop", usage: [0, 0] },
    "whole reasoning_only",
  ],
  [
    "B42: zeros are no proof of a low count",
    tools,
    [T(0, "write_file", '{"pa')],
    { finish: "length", usage: [0, 0] },
    "cut reply_cap tool",
  ],
  ["B43 a: only the closing tag", plain, [D("internal reasoning</thi"), D("nk>answer")], { finish: "stop" }, "whole"],
  [
    "B43 a: the same, cut",
    plain,
    [D("internal reasoning</thi"), D("nk>answer")],
    { finish: "length" },
    "cut reply_cap text",
  ],
  ["B43 b: cut in the thought", plain, [D("<think>plan")], { finish: "length" }, "cut reasoning_starved reasoning"],
  ["B43 c: the tag is spoken of", plain, [D("Use `<think>` as a tag.")], { finish: "stop" }, "whole"],
  [
    "B48: the window, not the cap",
    plain,
    [D("half")],
    { finish: "length", usage: [32_638, 130], window: 32_768 },
    "cut context_full text",
  ],
  ["B100: reasoning only, incomplete", plain, [R("hmm")], { finish: "length" }, "cut reasoning_starved reasoning"],
  ["B102: a call, then the end of the body", tools, [T(0, "now", "{}")], { end: "eof" }, "cut upstream_broken tool"],
];

const causes: Row[] = [
  ["the cap of this pass", plain, [D("half")], { finish: "length", usage: [10, 1000] }, "cut reply_cap text"],
  [
    "the cap with its allowance",
    plain,
    [D("half")],
    { finish: "length", usage: [10, 5096], cap: 5096, reason: "allowance" },
    "cut reply_cap text",
  ],
  [
    "the model's own limit",
    plain,
    [D("half")],
    { finish: "length", usage: [10, 1000], reason: "model_limit" },
    "cut provider_cap text",
  ],
  ["below its own cap", plain, [D("half")], { finish: "length", usage: [10, 150] }, "cut provider_cap text limit=150"],
  [
    "reasoning counted apart from the reply",
    plain,
    [R("hm"), D("half")],
    { finish: "length", usage: [10, 400, 600] },
    "cut reply_cap text",
  ],
  ["nothing at all, at the end of the body", plain, [], { end: "eof" }, "nothing"],
  ["nothing at all but `[DONE]`", plain, [], {}, "nothing"],
  ["nothing more, in a later pass", plain, [D("half")], { silent: true }, "nothing"],
  ["nothing at all, and lost", plain, [], { end: "broken" }, "cut upstream_broken nothing"],
  ["nothing at all, called done", plain, [], { finish: "stop", usage: [10, 1] }, "whole"],
  ["nothing to see, and no usage", plain, [], { finish: "length" }, "cut reply_cap nothing"],
  ["a cap of one token", plain, [], { finish: "length", usage: [10, 0], cap: 1 }, "cut reply_cap nothing"],
];

describe.each([
  ["detection", detection],
  ["tool calls", calls],
  ["structured replies", structured],
  ["reasoning", reasoning],
  ["public reports", reports],
  ["causes", causes],
])("%s", (_name, rows) => {
  test.each(rows)("%s", async (_row, asked, parts, ended, expected) => {
    expect(await verdict(asked, parts, ended)).toBe(expected);
  });
});

describe("needs", () => {
  const asked: Row[] = [
    ["a call called done", tools, [T(0, "now", "{}")], { finish: "tool_calls" }, "1"],
    ["two calls, one cut", tools, [T(0, "now", "{}"), T(1, "now", "{")], { finish: "length" }, "0"],
    ["a call in a lost stream", tools, [T(0, "now", "{}")], { end: "eof" }, "0"],
    ["a call and a filter", tools, [T(0, "now", "{}")], { finish: "content_filter" }, "0"],
    ["a tool without a schema", tools, [T(0, "any", "{}")], { finish: "tool_calls" }, "0"],
    ["a structured reply", list, [D("{}")], { finish: "stop" }, "1"],
    ["an open structured reply", list, [D("{")], { finish: "length" }, "0"],
    ["any object", object, [D("{}")], { finish: "stop" }, "0"],
    ["text", plain, [D("{}")], { finish: "length" }, "0"],
  ];
  test.each(asked)("%s is validated as often as it takes", async (_name, asked, parts, ended, times) => {
    let validations = 0;
    await verdictOf(asked, pass(parts, ended), async () => {
      validations++;
      return "valid";
    });
    expect(validations).toBe(Number(times));
  });

  test("what is not validated is not known", () => {
    const unproven = {
      ...pass([T(0, "now", "{}")], { finish: "length" }),
      calls: [{ shape: "closed", validity: null } as const],
      structured: null,
      looping: false,
    };
    expect(needs(unproven)).toEqual({ calls: [0], structured: false });
    expect(judge(unproven).kind).toBe("cut");
  });
});
