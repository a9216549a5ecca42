import { expect, test } from "vitest";
import type { Block } from "../../src/core/reply.ts";
import { type Slot, weave } from "../../src/wire/weave.ts";

const block = (kind: Block["kind"], text: string): Block => {
  return { kind, block: 0, text, id: "", name: "", ended: false, sealed: false };
};
const slot = (own: string, says: Block | null): Slot<string> => ({ says, own });
const owns = (blocks: Block[], ...bodies: Slot<string>[][]) => weave(blocks, bodies).map(({ own }) => own);

test("a block is known by what a pass said of it: all, its beginning, or more than was left", () => {
  const body = [slot("thought", block("reasoning", "hm")), slot("said", block("text", "one two"))];
  expect(owns([block("reasoning", "hm"), block("text", "one two")], body)).toEqual(["thought", "said"]);
  expect(owns([block("reasoning", "hm"), block("text", "one two three")], body)).toEqual(["thought", "said"]);
  expect(owns([block("reasoning", "hm"), block("text", "one")], body)).toEqual(["thought", "said"]);
  expect(owns([block("text", "")], body)).toEqual([null]);
  expect(owns([block("text", "other")], body)).toEqual([null]);
});

test("what no block says stays where it stood", () => {
  const body = [slot("search", null), slot("said", block("text", "one")), slot("cited", null)];
  expect(owns([block("text", "one two")], body)).toEqual(["search", "said", "cited"]);
});
