import { expect, test } from "vitest";
import { jsonState } from "../../src/stitch/json.ts";
import { constraintLoop } from "../../src/stitch/loops.ts";

const rows: [name: string, text: string, loop: "whitespace" | "digits" | null][] = [
  ["blanks without end after a member", `{"a":1,${" ".repeat(200)}`, "whitespace"],
  ["line ends and tabs without end", `{"a":${"\n\t".repeat(150)}`, "whitespace"],
  ["blanks before anything", "\n".repeat(300), "whitespace"],
  ["digits without end", `{"n":${"142857".repeat(40)}`, "digits"],
  ["a fraction without end", `{"n":0.${"3".repeat(220)}`, "digits"],
  ["an indentation", `{"a":1,\n${" ".repeat(80)}`, null],
  ["blanks inside a string", `{"a":"${" ".repeat(400)}`, null],
  ["digits inside a string", `{"pi":"3.${"14159".repeat(100)}`, null],
  ["a long list of numbers", `[${"12345, ".repeat(100)}`, null],
  ["blanks behind a whole value", `{"a":1}${"\n".repeat(400)}`, null],
  ["text that is not JSON", `x${" ".repeat(400)}`, null],
];

test.each(rows)("edge 86: %s", (_name, text, loop) => {
  expect(constraintLoop(jsonState(text))).toBe(loop);
});
