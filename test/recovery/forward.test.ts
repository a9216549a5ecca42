import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyReply, take } from "../../src/core/reply.ts";
import { Forward, type ForwardOptions } from "../../src/recovery/forward.ts";
import { parseEvents } from "../../src/upstream/frames.ts";
import { chat } from "../../src/wire/chat/chat.ts";

type Holds = Pick<ForwardOptions, "holdTools" | "holdAll" | "holdWord" | "careful">;
const FLOWS: Holds = { holdTools: false, holdAll: false, holdWord: false, careful: false };

function forwarding(holds: Holds): Forward {
  return new Forward({
    wire: chat,
    voice: chat.voice(chat.read({ model: "m", messages: [] }), "id"),
    clear: false,
    askedCap: null,
    dropUsage: false,
    losesOpening: false,
    out: () => undefined,
    over: () => undefined,
    ...holds,
  });
}

const event = (choices: readonly object[], more: object = {}) =>
  `data: ${JSON.stringify({ id: "c1", choices, ...more })}\n\n`;
const choice = (delta: object, finish_reason: string | null = null, index = 0) => ({ index, delta, finish_reason });
const said = (content: string, finish: string | null = null, more: object = {}) =>
  event([choice({ content }, finish)], more);
const used = (completion_tokens: number) => ({ usage: { prompt_tokens: 3, completion_tokens } });
const called = (id: string, name: string, args: string, finish: string | null = null) =>
  event([choice({ tool_calls: [{ index: 0, id, function: { name, arguments: args } }] }, finish)]);

describe("what a stream has said", () => {
  const text = fc.constantFrom("a", "word ", "x y", "\ufffd", "\ud83d", "é", "");
  const finish = fc.constantFrom(null, null, null, "stop", "length", "tool_calls");
  const call = fc.record({
    index: fc.nat(1),
    id: fc.constantFrom("", "A", "B", "C"),
    function: fc.record({ name: fc.constantFrom("", "f", "g"), arguments: fc.constantFrom("", "{", "1}") }),
  });
  const events = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: text.map((one) => said(one)) },
      { weight: 2, arbitrary: fc.tuple(text, finish).map(([one, end]) => said(one, end)) },
      { weight: 2, arbitrary: fc.tuple(text, finish, fc.nat(9)).map(([one, end, n]) => said(one, end, used(n))) },
      { weight: 1, arbitrary: text.map((one) => event([choice({ reasoning_content: one })])) },
      { weight: 1, arbitrary: fc.nat(9).map((n) => event([], used(n))) },
      { weight: 2, arbitrary: finish.map((end) => event([choice({}, end)])) },
      {
        weight: 1,
        arbitrary: finish.map((end) => event([choice({ content: "q" }), choice({ content: "r" }, end, 1)])),
      },
      {
        weight: 3,
        arbitrary: fc
          .tuple(call, finish, text)
          .map(([one, end, content]) => event([choice({ content, tool_calls: [one] }, end)])),
      },
    ),
    { maxLength: 14 },
  );
  const holds = fc
    .record({ holdTools: fc.boolean(), holdAll: fc.boolean(), holdWord: fc.boolean(), careful: fc.boolean() })
    .map((one) => ({ ...one, careful: one.careful || one.holdAll || one.holdWord }));
  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 });

  test("is what its parts say in order, however it was held, and whenever it is asked for", () => {
    fc.assert(
      fc.property(events, sizes, holds, fc.boolean(), (all, runs, held, asked) => {
        const forward = forwarding(held);
        const reply = emptyReply();
        const rest = [...all];
        for (const size of [...runs, all.length]) {
          const run = Buffer.from(rest.splice(0, size).join(""));
          forward.run(run, false);
          for (const { event, data } of parseEvents(run, false))
            for (const part of chat.frame(event, data).parts) take(reply, part);
          if (asked) expect(forward.whole()).toEqual(reply);
        }
        const end = forward.end();
        if (held.careful) expect(end).toEqual(reply);
        forward.settle();
        expect(forward.whole()).toEqual(reply);
      }),
      { numRuns: 3_000 },
    );
  });

  test("has the last usage, though an earlier one had flowed unparsed", () => {
    const forward = forwarding(FLOWS);
    for (const one of [said("a"), said("b"), said("c", null, used(1)), said("d", "stop", used(2)), said("e")])
      forward.run(Buffer.from(one), false);
    expect(forward.whole()).toMatchObject({ usage: { completion: 2 } });
  });

  test("has a call's later pieces in the call that they carry on, though they came with a finish", () => {
    const forward = forwarding(FLOWS);
    for (const one of [called("A", "f", "{"), called("", "", "}", "stop"), called("B", "g", "{}", "stop")])
      forward.run(Buffer.from(one), false);
    expect(forward.end().blocks).toMatchObject([
      { id: "A", name: "f", text: "{}" },
      { id: "B", name: "g", text: "{}" },
    ]);
  });

  test("is all there behind a look at what has flowed", () => {
    const forward = forwarding(FLOWS);
    for (const one of [said("a"), said("b")]) forward.run(Buffer.from(one), false);
    forward.end();
    forward.settle();
    expect(forward.whole().blocks).toMatchObject([{ text: "ab" }]);
  });
});
