import { expect, test } from "vitest";
import { callsOf, emptyReply, take } from "../../src/core/reply.ts";

const calls = (...pieces: [block: number, id: string, name: string, args: string][]) => {
  const reply = emptyReply();
  for (const [block, id, name, args] of pieces) take(reply, { kind: "tool", block, id, name, args });
  return callsOf(reply).map((call) => [call.id, call.name, call.text]);
};

test("a call comes in pieces; only the first bears id and name, or all of them do", () => {
  expect(calls([0, "a", "f", ""], [0, "", "", '{"x"'], [0, "", "", ":1}"])).toEqual([["a", "f", '{"x":1}']]);
  expect(calls([0, "a", "f", '{"x"'], [0, "a", "f", ":1}"])).toEqual([["a", "f", '{"x":1}']]);
});

test("calls that a server gives one number are still two", () => {
  expect(calls([0, "a", "f", "{}"], [0, "b", "g", "["], [0, "", "", "]"])).toEqual([
    ["a", "f", "{}"],
    ["b", "g", "[]"],
  ]);
});

test("an id that changes from piece to piece makes no new call", () => {
  expect(calls([0, "a", "f", "{"], [0, "b", "", "}"])).toEqual([["a", "f", "{}"]]);
});

test("the first finish stands, but one that tells of a cut counts, whichever choice's it is", () => {
  const finish = (...ends: [choice: number, kind: "done" | "cap", raw: string][]) => {
    const reply = emptyReply();
    for (const [choice, kind, raw] of ends) take(reply, { kind: "finish", choice, finish: { kind, raw } });
    return reply.finish?.raw;
  };
  expect(finish([0, "done", "stop"], [0, "done", "eos"])).toBe("stop");
  expect(finish([0, "cap", "length"], [1, "done", "stop"])).toBe("length");
  expect(finish([1, "done", "stop"], [0, "cap", "length"])).toBe("length");
});
