import { describe, expect, test } from "vitest";
import type { Validity } from "../../src/core/proof.ts";
import { check } from "../../src/schema/check.ts";

const write = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
};

const rows: [name: string, schema: unknown, text: string, validity: Validity][] = [
  ["what satisfies", write, '{"path":"a","content":"b"}', "valid"],
  ["a required field is missing", write, '{"path":"a"}', "invalid"],
  ["a wrong type", write, '{"path":"a","content":1}', "invalid"],
  ["not JSON", write, '{"path":"a"', "invalid"],
  ["no demands", {}, "[1]", "valid"],
  ["true", true, "1", "valid"],
  ["false", false, "1", "invalid"],
  ["draft 2020-12: prefixItems", { prefixItems: [{ type: "string" }], items: false }, '["a", 1]', "invalid"],
  [
    "draft 2020-12, named",
    { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{ type: "string" }] },
    "[1]",
    "invalid",
  ],
  ["draft-07: a list of items", { items: [{ type: "string" }], additionalItems: false }, '["a", 1]', "invalid"],
  [
    "draft-07, named",
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] },
    '["a"]',
    "valid",
  ],
  ["a draft that is not known", { $schema: "http://json-schema.org/draft-03/schema#" }, "{}", "unknown"],
  [
    "references within",
    { $defs: { n: { type: "number" } }, properties: { a: { $ref: "#/$defs/n" } } },
    '{"a":"x"}',
    "invalid",
  ],
  ["a recursive schema", { properties: { next: { $ref: "#" } }, required: ["v"] }, '{"v":1,"next":{"v":2}}', "valid"],
  ["formats are not checked", { properties: { mail: { format: "email" } } }, '{"mail":"nobody"}', "valid"],
  ["keywords that are not known", { type: "object", "x-order": ["a"], example: {} }, "{}", "valid"],
  ["nullable", { properties: { a: { type: "string", nullable: true } } }, '{"a":null}', "valid"],
  ["a pattern only without Unicode mode", { pattern: "^[\\w-.]+$" }, '"a-b.c"', "valid"],
  ["a pattern that is none", { pattern: "(?i)abc" }, '"abc"', "unknown"],
  ["a pattern beyond bounds", { pattern: "a".repeat(1_001) }, '"a"', "unknown"],
  ["a key pattern beyond bounds", { patternProperties: { ["a".repeat(1_001)]: {} } }, "{}", "unknown"],
  ["a remote reference", { $ref: "http://127.0.0.1:9/schema.json" }, "{}", "unknown"],
  ["a remote reference below", { properties: { a: { $ref: "file:///etc/passwd" } } }, "{}", "unknown"],
  ["a schema that is none", { type: "text" }, "{}", "unknown"],
  ["a keyword of the wrong type", { minLength: "1); process.exit(1); (" }, '"a"', "unknown"],
  ["a list as schema", [], "{}", "unknown"],
  ["an asynchronous schema", { $async: true, type: "string" }, "1", "unknown"],
  ["a reference to itself", { $ref: "#" }, "{}", "unknown"],
  ["a name that every object inherits", { required: ["constructor"] }, "{}", "invalid"],
];

describe("check", () => {
  test.each(rows)("%s", (_name, schema, text, validity) => {
    expect(check(JSON.stringify(schema), text)).toBe(validity);
    expect(check(JSON.stringify(schema), text)).toBe(validity);
  });

  test("one client's `$id` is not known to another's schema", () => {
    const id = "https://example.com/shared";
    expect(check(JSON.stringify({ $id: id, type: "string" }), '"a"')).toBe("valid");
    expect(check(JSON.stringify({ $id: id, type: "number" }), "1")).toBe("valid");
    expect(check(JSON.stringify({ properties: { a: { $ref: id } } }), "{}")).toBe("unknown");
  });

  test("more schemas than are kept compiled", () => {
    for (let n = 0; n < 100; n++) expect(check(JSON.stringify({ const: n }), String(n))).toBe("valid");
    expect(check(JSON.stringify({ const: 0 }), "1")).toBe("invalid");
  });
});
