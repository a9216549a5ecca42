import { describe, expect, it } from "vitest";
import type { Block } from "../../src/core/reply.ts";
import { addedCalls, furtherCalls } from "../../src/recovery/turn-calls.ts";

const call = (text: string, name = "write", block = 0): Block => ({
  kind: "tool",
  block,
  text,
  id: `id_${block}`,
  name,
  ended: false,
  sealed: false,
});

describe("what calls add to those that were shown", () => {
  it("nothing shown: all of them, whole", () => {
    expect(addedCalls([], [call("{}")])).toEqual([{ kind: "tool", block: 0, id: "id_0", name: "write", args: "{}" }]);
  });
  it("the rest of the arguments, in the shown call, and further calls", () => {
    expect(addedCalls([call('{"a"')], [call('{"a":1}', "write", 9), call("{}", "look", 10)])).toEqual([
      { kind: "tool", block: 0, id: "", name: "", args: ":1}" },
      { kind: "tool", block: 10, id: "id_10", name: "look", args: "{}" },
    ]);
  });
  it("nothing, where all was shown", () => {
    expect(addedCalls([call("{}")], [call("{}")])).toEqual([]);
  });
  it.each([
    ["other arguments", [call('{"b":1}')]],
    ["fewer arguments", [call("{")]],
    ["another tool", [call('{"a":1}', "look")]],
    ["no call", []],
  ])("%s tell otherwise", (_name, calls) => {
    expect(addedCalls([call('{"a"')], calls)).toBeNull();
  });
});

describe("which calls of a turn that was cut twice are carried on", () => {
  it("the newer ones", () => {
    expect(furtherCalls([call("{1")], [call("{22")], [])).toEqual([call("{22")]);
  });
  it("the older ones, where they came further", () => {
    expect(furtherCalls([call("{111")], [call("{2")], [])).toEqual([call("{111")]);
    expect(furtherCalls([call("{111")], [], [])).toEqual([call("{111")]);
  });
  it("the newer ones, where they are of another tool or number", () => {
    expect(furtherCalls([call("{111")], [call("{2", "look")], [])).toEqual([call("{2", "look")]);
    expect(furtherCalls([call("{}"), call("{111")], [call("{2")], [])).toEqual([call("{2")]);
  });
  it("what was shown, where the newer ones do not extend it", () => {
    expect(furtherCalls([call("{1")], [call("{2222")], [call("{1")])).toEqual([call("{1")]);
  });
});
