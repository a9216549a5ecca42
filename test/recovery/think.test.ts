import { expect, test } from "vitest";
import { thinkState } from "../../src/recovery/think.ts";

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
