import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const TESTS = new URL("..", import.meta.url).pathname;
const CASES = 105;
const EDGES = 100;

/** Numbers that no test names, each with the reason. */
const LEFT: Readonly<Record<string, string>> = {};

/** A title begins with its number or numbers: `B45: ...`, `edge 2, B25: ...`, `edges 62, 66: ...`. */
const TITLE = /["'`](?<numbers>(?:B|[Ee]dges? )\d[^:"'`\n]*):/g;

function named(): Set<string> {
  const found = new Set<string>();
  const files = readdirSync(TESTS, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".test.ts")))
    for (const { groups } of readFileSync(join(TESTS, file), "utf8").matchAll(TITLE)) {
      let kind = "";
      for (const [, word, number] of (groups?.numbers ?? "").matchAll(/(B|[Ee]dges? )?(\d+)/g)) {
        kind = word === undefined ? kind : word.startsWith("B") ? "B" : "edge ";
        found.add(kind + number);
      }
    }
  return found;
}

it("every case and every edge is a test by its number", () => {
  const all = [
    ...Array.from({ length: CASES }, (_, at) => `B${at + 1}`),
    ...Array.from({ length: EDGES }, (_, at) => `edge ${at + 1}`),
  ];
  const tests = named();
  expect(all.filter((number) => !tests.has(number) && LEFT[number] === undefined)).toEqual([]);
  expect(Object.keys(LEFT).filter((number) => tests.has(number) || !all.includes(number))).toEqual([]);
});
