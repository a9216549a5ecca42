import fc from "fast-check";
import { expect, test } from "vitest";
import { ThoughtScan, thinkState } from "../../src/recovery/think.ts";

const rows: [text: string, state: string, answer: string][] = [
  ["", "none", ""],
  ["An answer.", "none", "An answer."],
  ["<think>", "open", ""],
  ["\n<think>\nplan", "open", ""],
  ["<think>plan</thi", "open", ""],
  ["<think>plan</think>", "closed", ""],
  ["<think>plan</think>\n\nAnswer", "closed", "\n\nAnswer"],
  ["plan</think>Answer", "closed", "Answer"],
  ["Use `<think>` as a tag.", "none", "Use `<think>` as a tag."],
  ["Close it with `</think>`, always.", "none", "Close it with `</think>`, always."],
  ["Write <think> and </think> around it.", "none", "Write <think> and </think> around it."],
  ["<think>the tag `</think>` ends it", "open", ""],
  ["<think>the tag `</think>` ends it</think>Yes", "closed", "Yes"],
  ["<think>a</think>b</think>c", "closed", "b</think>c"],
];
test.each(rows)("B43: %j is %s", (text, state, answer) => {
  const found = thinkState(text);
  expect(found.state).toBe(state);
  expect(text.slice(found.answerAt)).toBe(answer);
});

/** The answer of a text that comes in pieces. */
function answerIn(pieces: readonly string[]): string {
  const scan = new ThoughtScan();
  return pieces.map((piece) => piece.slice(scan.push(piece))).join("");
}

test("B43: a thought that opens itself is the same however it comes", () => {
  const text = "\n<think>plan `</think>` and </thi</think>the answer</think>, all of it";
  const cuts = fc.uniqueArray(fc.integer({ min: 8, max: text.length }));
  fc.assert(
    fc.property(cuts, (at) => {
      // A tag that may be spoken of is known for that only with what follows it.
      const ends = [...at, text.length]
        .filter((end) => text.slice(0, end) !== "\n<think>plan `</think>")
        .sort((a, b) => a - b);
      const pieces = ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end));
      expect(answerIn(pieces)).toBe(text.slice(thinkState(text).answerAt));
    }),
  );
});

test("B43: tags in pieces are known once they are whole; what the template began is text until then", () => {
  expect(answerIn(["<thi", "nk>", "plan</th", "ink>", "Yes"])).toBe("<thiYes");
  expect(answerIn(["plan", "</think>", "Yes"])).toBe("plan</think>Yes");
  expect(answerIn(["\n", "Yes", "<think>"])).toBe("\nYes<think>");
});
