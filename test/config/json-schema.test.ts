import { readFileSync, writeFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { jsonSchema } from "../../src/config/json-schema.ts";

const published = new URL("../../config/lastword.schema.json", import.meta.url);

describe("the published schema", () => {
  test("is current (UPDATE_SCHEMA=1 writes it; then run `npm run format`)", () => {
    if (process.env.UPDATE_SCHEMA === "1") writeFileSync(published, JSON.stringify(jsonSchema(), null, 2));
    expect(JSON.parse(readFileSync(published, "utf8"))).toEqual(JSON.parse(JSON.stringify(jsonSchema())));
  });

  const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(published, "utf8")));

  test("accepts the example", () => {
    const example = readFileSync(new URL("../../config/lastword.yaml", import.meta.url), "utf8");
    expect(validate(parse(example))).toBe(true);
  });

  test("accepts a variable for a number, and nothing else that is no number", () => {
    expect(validate({ listen: { port: `\${PORT:-4747}` } })).toBe(true);
    expect(validate({ listen: { port: "4747" } })).toBe(false);
  });

  test("knows every key", () => {
    expect(validate({ recovery: { maxAtempts: 3 } })).toBe(false);
    expect(validate({ models: [{ match: "*", maxAttempts: 3, minReplyTokens: 10, caps: "strict" }] })).toBe(true);
  });
});
