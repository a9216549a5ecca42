import { expect, test } from "vitest";
import { schemaText } from "../../src/schema/bounds.ts";

function nested(depth: number): unknown {
  let schema: unknown = {};
  for (let i = 0; i < depth; i++) schema = { not: schema };
  return schema;
}

test("a schema within bounds is its JSON text", () => {
  expect(schemaText({ type: "object", enum: [1, "a", null] })).toBe('{"type":"object","enum":[1,"a",null]}');
  expect(schemaText(nested(128))).toContain('{"not":{"not":');
});

const beyond: [name: string, schema: unknown][] = [
  ["nested too deep", nested(129)],
  ["nested without end", nested(100_000)],
  ["too many values", { enum: Array.from({ length: 60_000 }, (_, n) => n) }],
  [
    "too many lists",
    { allOf: Array.from({ length: 300 }, () => ({ enum: Array.from({ length: 300 }, (_, n) => n) })) },
  ],
  ["too long a text", { description: "a".repeat(600_000) }],
  ["too long a key", { properties: { ["a".repeat(600_000)]: {} } }],
];
test.each(beyond)("%s is beyond bounds", (_name, schema) => {
  expect(schemaText(schema)).toBe(null);
});
