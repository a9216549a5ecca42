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
