import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Part } from "../../../src/core/part.ts";
import type { Block } from "../../../src/core/reply.ts";
import { RawEars, type RawEarsOptions } from "../../../src/recovery/raw/ears.ts";

const HERMES: RawEarsOptions["markup"] = {
  thoughtEnd: "\n</think>\n\n",
  call: { sign: "<tool_call>", json: { beforeName: '\n{"name": "', beforeArgs: '", "arguments": ' } },
};
const call = (text: string): Block => ({
  kind: "tool",
  block: 3,
  text,
  id: "call_1",
  name: "write",
  ended: false,
  sealed: false,
});
const ears = (more: Partial<RawEarsOptions> = {}) =>
  new RawEars({
    markup: HERMES,
    call: null,
    at: "text",
    block: 7,
    fresh: (n) => ({ block: 20_000 + n, id: `fresh_${n}` }),
    ...more,
  });

/** What was heard, pieces of one kind put together. */
function heard(listener: RawEars, pieces: readonly string[]) {
  const all: Part[] = [...pieces.flatMap((piece) => listener.hear(piece)), ...listener.end()];
  const said = { thought: "", text: "", calls: [] as { block: number; id: string; name: string; args: string }[] };
  for (const part of all) {
    if (part.kind === "reasoning") said.thought += part.text;
    else if (part.kind === "text") said.text += part.text;
    else if (part.kind === "tool") {
      const open = said.calls.find((one) => one.block === part.block);
      if (open === undefined) said.calls.push({ block: part.block, id: part.id, name: part.name, args: part.args });
      else open.args += part.args;
    }
  }
  return { ...said, lost: listener.lost };
}

const CASES: [string, Partial<RawEarsOptions>, string, ReturnType<typeof heard>][] = [
  ["text", {}, " and so on.", { thought: "", text: " and so on.", calls: [], lost: false }],
  [
    "the rest of a thought, then the answer",
    { at: "thought" },
    " then?\n</think>\n\nTrim lamp 15.",
    { thought: " then?", text: "Trim lamp 15.", calls: [], lost: false },
  ],
  [
    "the rest of a thought, blanks at its end",
    { at: "thought" },
    " then?\n\n",
    { thought: " then?\n\n", text: "", calls: [], lost: false },
  ],
  [
    "a thought that speaks of something like its end",
    { at: "thought" },
    " a < b, </thing> and </think\n</think>x",
    { thought: " a < b, </thing> and </think", text: "x", calls: [], lost: false },
  ],
  [
    "text that turns to a call",
    {},
    ' it.\n<tool_call>\n{"name": "write", "arguments": {"path": "a{}", "n": [1, 2]}}\n</tool_call>',
    {
      thought: "",
      text: " it.\n",
      calls: [{ block: 20_000, id: "fresh_0", name: "write", args: '{"path": "a{}", "n": [1, 2]}' }],
      lost: false,
    },
  ],
  [
    "two calls, spaced otherwise than the template does",
    {},
    '<tool_call>{"name":"a","arguments":{}}</tool_call>\n<tool_call>\n\n{"name": "b", "arguments":{"x":1}}\n</tool_call>',
    {
      thought: "",
      text: "",
      calls: [
        { block: 20_000, id: "fresh_0", name: "a", args: "{}" },
        { block: 20_001, id: "fresh_1", name: "b", args: '{"x":1}' },
      ],
      lost: false,
    },
  ],
  [
    "the rest of arguments, and the template's closing signs",
    { call: call('{"path": "a", "content": "one\\n') },
    'two"}}\n</tool_call>',
    { thought: "", text: "", calls: [{ block: 3, id: "", name: "", args: 'two"}' }], lost: false },
  ],
  [
    "the rest of arguments, cut again inside of an escape",
    { call: call('{"a":"') },
    "x\\u00",
    { thought: "", text: "", calls: [{ block: 3, id: "", name: "", args: "x\\u00" }], lost: false },
  ],
  [
    "the rest of arguments, and a further call",
    { call: call('{"a":') },
    '1}}\n</tool_call><tool_call>\n{"name": "b", "arguments": {}}\n</tool_call>',
    {
      thought: "",
      text: "",
      calls: [
        { block: 3, id: "", name: "", args: "1}" },
        { block: 20_000, id: "fresh_0", name: "b", args: "{}" },
      ],
      lost: false,
    },
  ],
  [
    "the rest of arguments, and a further call that no sign tells of",
    { call: call('{"a":'), markup: { thoughtEnd: null, call: null } },
    '1}; {"name": "b"',
    { thought: "", text: "", calls: [{ block: 3, id: "", name: "", args: "1}" }], lost: true },
  ],
  [
    "arguments that are not JSON",
    { call: call('{"a":') },
    "nothing of the kind",
    { thought: "", text: "", calls: [{ block: 3, id: "", name: "", args: "no" }], lost: true },
  ],
  [
    "a call of another shape",
    {},
    'x<tool_call>\n[{"tool": "write"}]',
    { thought: "", text: "x", calls: [], lost: true },
  ],
  [
    "a call cut inside of its name",
    {},
    'x<tool_call>\n{"name": "wri',
    { thought: "", text: "x", calls: [], lost: true },
  ],
  [
    "a call whose arguments cannot be read",
    { markup: { thoughtEnd: null, call: { sign: "<tool_call>", json: null } } },
    "x<tool_call>\n<function=write>",
    { thought: "", text: "x", calls: [], lost: true },
  ],
];

describe("a turn resumed on the completion endpoint", () => {
  it.each(CASES)("%s", (_name, options, text, expected) => {
    expect(heard(ears(options), [text])).toEqual(expected);
  });

  it("is heard alike however it is split", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CASES),
        fc.array(fc.nat(200), { maxLength: 12 }),
        ([, options, text, said], at) => {
          const cuts = [0, ...at.map((one) => one % (text.length + 1)).sort((a, b) => a - b), text.length];
          const pieces = cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
          const got = heard(ears(options), pieces);
          // How much of what breaks the JSON was passed on depends on nothing but the text.
          expect(got).toEqual(said);
        },
      ),
      { numRuns: 600 },
    );
  });
});
