import { expect, test } from "vitest";
import { soon } from "../../src/core/soon.ts";

test("goes on at once with what is there, and later with what is not", async () => {
  const added = (n: number) => n + 1;
  expect(soon(1, added)).toBe(2);
  const later = soon(Promise.resolve(1), added);
  expect(later).toBeInstanceOf(Promise);
  await expect(later).resolves.toBe(2);
});

test("throws where it runs", async () => {
  const fails = () => {
    throw new Error("no");
  };
  expect(() => soon(1, fails)).toThrow("no");
  await expect(soon(Promise.resolve(1), fails)).rejects.toThrow("no");
});
