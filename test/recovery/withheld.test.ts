import { describe, expect, it } from "vitest";
import { emptyReply, take, textOf } from "../../src/core/reply.ts";
import { Withheld } from "../../src/recovery/withheld.ts";
import { D, R } from "./passes.ts";

/** A reply of which `first` was held, and `joined` came by later passes, one each. */
function withheld(first: string, ...joined: string[]) {
  const reply = emptyReply();
  const held = new Withheld(reply);
  const give = (text: string, add: (text: string) => void) => {
    take(reply, D(text));
    add(text);
  };
  if (first !== "") give(first, (text) => held.first([D(text)], null));
  for (const pass of joined) {
    held.begin();
    give(pass, (text) => held.join([D(text)], null));
  }
  const released = () =>
    held
      .release()
      .flatMap(({ parts }) => parts)
      .map((part) => (part.kind === "text" ? part.text : ""))
      .join("");
  return { reply, held, released };
}

describe("output that waits for its proof", () => {
  it("is released in order, once", () => {
    const { held, released } = withheld("[1,", " 2,", " 3]");
    expect(held.length).toBe(9);
    expect(released()).toBe("[1, 2, 3]");
    expect(released()).toBe("");
  });

  it("the last pass can be undone, and no other is lost", () => {
    const { reply, held, released } = withheld("[1,", " 2,", " oops");
    held.undo();
    expect(textOf(reply)).toBe("[1, 2,");
    expect(released()).toBe("[1, 2,");
  });

  it("all that was joined can be forsaken, and the first showing stands", () => {
    const { reply, held, released } = withheld("[1,", " 2,", " 3");
    held.forsake();
    expect(textOf(reply)).toBe("[1,");
    expect(released()).toBe("[1,");
  });

  it("is shortened from its end, over the seams of its passes", () => {
    const { reply, held, released } = withheld("[1, 2", "2, 3", "3");
    held.shorten(4);
    expect(textOf(reply)).toBe("[1, 22");
    held.shorten(2);
    expect(textOf(reply)).toBe("[1, ");
    expect(released()).toBe("[1, ");
  });

  it("what was shortened comes back where all is forsaken", () => {
    const { reply, held, released } = withheld('["a","b');
    held.begin();
    held.shorten(3);
    held.forsake();
    expect(textOf(reply)).toBe('["a","b');
    expect(released()).toBe('["a","b');
  });

  it("a thought in between is not touched", () => {
    const reply = emptyReply();
    const held = new Withheld(reply);
    for (const part of [D("ab"), R("hm"), D("cd")]) {
      take(reply, part);
      held.first([part], null);
    }
    held.shorten(3);
    expect(held.release().flatMap(({ parts }) => parts)).toEqual([D("a"), R("hm"), D("")]);
  });
});
