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

test("many calls at once are told apart, also where their list was replaced meanwhile", () => {
  const reply = emptyReply();
  const piece = (block: number, args: string) => take(reply, { kind: "tool", block, id: `t${block}`, name: "f", args });
  for (let block = 0; block < 100; block++) piece(block, "[");
  for (let block = 0; block < 50; block++) piece(block, "1");
  reply.blocks.splice(0, reply.blocks.length, ...reply.blocks.map((block) => ({ ...block })));
  for (let block = 0; block < 100; block++) piece(block, "]");
  expect(reply.blocks.map(({ text }) => text)).toEqual([...Array(50).fill("[1]"), ...Array(50).fill("[]")]);
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
