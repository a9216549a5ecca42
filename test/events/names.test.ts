import { expect, test } from "vitest";
import { modelLabels, shown } from "../../src/events/names.ts";

test("a name is bounded and cannot forge a line or a colour", () => {
  expect(shown("qwen/qwen3-8b")).toBe("qwen/qwen3-8b");
  expect(shown("x".repeat(10_000))).toHaveLength(128);
  expect(shown("a\nb\x1b[31mc\u2028d")).toBe("a\uFFFDb\uFFFD[31mc\uFFFDd");
  for (const none of ["", undefined, null, 7, { a: 1 }]) expect(shown(none)).toBe("unknown");
});

test("B89: names beyond the bound count as other; those without a name take no place", () => {
  const label = modelLabels(2);
  expect(["a", "", "b", "c", "a", "c", 5].map(label)).toEqual(["a", "unknown", "b", "other", "a", "other", "unknown"]);
});
