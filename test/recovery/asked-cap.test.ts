import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Part, Usage } from "../../src/core/part.ts";
import { emptyReply, type Reply, take } from "../../src/core/reply.ts";
import { AskedCap } from "../../src/recovery/asked-cap.ts";
import { D, R, T } from "./passes.ts";

/** What a stream of these texts, one an event, is cut back to. */
function shown(cap: AskedCap, events: readonly string[], known = ""): string {
  cap.begin(known);
  let all = "";
  for (const text of events) all += text.slice(0, cap.fits(text));
  return all;
}

function body(usage: Partial<Usage> | null, ...parts: Part[]): Reply {
  const reply = emptyReply();
  for (const part of parts) take(reply, part);
  reply.usage = usage === null ? null : { prompt: 5, completion: null, reasoning: null, raw: {}, ...usage };
  return reply;
}

const words = (n: number) => "word ".repeat(n);
/** Characters of a plain body's text that are within a cap of 100. */
function kept(usage: Partial<Usage> | null, text: string, ...beside: Part[]): number {
  const cap = new AskedCap(100);
  cap.begin("");
  cap.weigh(body(usage, D(text), ...beside));
  return cap.fits(text);
}

describe("events", () => {
  test.each([
    ["a word", "word "],
    ["half a word", "ternational"],
    ["signs", "}\n\n"],
    ["a contraction", "don't"],
    ["characters of a script without spaces", "京都"],
    ["a long blank", " ".repeat(16)],
  ])("of %s are a token each", (_, text) => {
    const events = Array.from({ length: 150 }, () => text);
    expect(shown(new AskedCap(100), events)).toBe(text.repeat(100));
  });

  test("never are more than the cap where each is a token, whatever they say", () => {
    const said = fc.array(fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }), { maxLength: 60 });
    fc.assert(
      fc.property(said, fc.integer({ min: 1, max: 50 }), (events, asked) => {
        const all = shown(new AskedCap(asked), events);
        expect(events.slice(0, asked).join("").startsWith(all)).toBe(true);
      }),
    );
  });

  test("of many words are as many tokens, and what fits of the last is given", () => {
    const batch = "one two three four five six ";
    const all = shown(
      new AskedCap(100),
      Array.from({ length: 40 }, () => batch),
    );
    const count = all.trim().split(" ").length;
    expect(count).toBeGreaterThan(80);
    expect(count).toBeLessThanOrEqual(100);
    expect(batch.repeat(40).startsWith(all)).toBe(true);
  });

  test("of a thought in the text count for nothing, and its tags for little", () => {
    const thought = ["<think>", ...Array.from({ length: 500 }, () => "hm "), "</think>"];
    const answer = Array.from({ length: 150 }, () => "word ");
    expect(shown(new AskedCap(100), [...thought, ...answer])).toBe(`${thought.join("")}${words(100)}`);
  });
});

describe("what was there before a pass", () => {
  test("counts as it did when it came", () => {
    const cap = new AskedCap(100);
    const first = shown(
      cap,
      Array.from({ length: 60 }, () => "ab"),
    );
    expect(cap.leftBehind(first)).toBe(40);
    const second = shown(
      cap,
      Array.from({ length: 60 }, () => "ab"),
      first,
    );
    expect(second).toBe("ab".repeat(40));
    expect(cap.leftBehind(first + second)).toBe(0);
  });

  test("is estimated where nothing is known of it", () => {
    expect(new AskedCap(100).leftBehind(words(60))).toBeLessThanOrEqual(40);
    expect(new AskedCap(100).leftBehind("")).toBe(100);
  });

  test("is not counted where it is thought, which may go on", () => {
    const cap = new AskedCap(100);
    expect(cap.leftBehind("<think>hm hm hm")).toBe(100);
    const rest = ["hm ", "</think>", ...Array.from({ length: 150 }, () => "word ")];
    expect(shown(cap, rest, "<think>hm ")).toBe(`hm </think>${words(100)}`);
  });
});

describe("a plain body", () => {
  const text = words(200);
  const half = text.length / 2 - 1;

  test.each<[string, Partial<Usage> | null, Part[]]>([
    ["of text alone", { completion: 200 }, []],
    ["with its thought told", { completion: 900, reasoning: 700 }, [R("short")]],
    ["with its thought told apart", { completion: 200, reasoning: 700 }, [R("long")]],
    ["with a thought that was hidden", { completion: 900, reasoning: 700 }, []],
    ["with a thought that is only shown", { completion: 600 }, [R(words(400))]],
    ["with a thought that is told as none", { completion: 600, reasoning: 0 }, [R(words(400))]],
  ])("%s is cut in proportion", (_, usage, beside) => {
    expect(kept(usage, text, ...beside)).toBe(half);
  });

  test("without a usage, or with one that hides a thought, is estimated", () => {
    const within = words(75);
    expect(kept(null, within)).toBe(within.length);
    expect(kept({ completion: 5000 }, within)).toBe(within.length);
    expect(kept(null, text)).toBeLessThan(half);
    expect(kept({ completion: 5000 }, text)).toBeLessThan(half);
  });

  test("is not cut for being over by less than an estimate may be off, and is where that is known", () => {
    const little = words(108);
    expect(kept({ completion: 216 }, little, R(little))).toBe(little.length);
    expect(kept({ completion: 216, reasoning: 108 }, little, R(little))).toBe(words(100).length - 1);
  });

  test("that makes a call is not cut for the tokens of that", () => {
    const args = JSON.stringify(Array.from({ length: 200 }, (_, n) => n));
    const short = words(80);
    expect(kept({ completion: 80 + 600, reasoning: 0 }, short, T(0, "f", args))).toBe(short.length);
    expect(kept({ completion: 200 + 600, reasoning: 0 }, text, T(0, "f", args))).toBeLessThan(text.length);
  });

  test("tells what was generated and what of that is dropped", () => {
    const cap = new AskedCap(100);
    cap.begin("");
    cap.weigh(body({ completion: 900, reasoning: 700 }, D(text), D("")));
    cap.fits(text);
    cap.drop(words(10));
    expect({ generated: cap.generated, dropped: cap.dropped }).toEqual({ generated: 900, dropped: 110 });
  });
});
