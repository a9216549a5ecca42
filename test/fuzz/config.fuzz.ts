import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { problemText } from "../../src/config/problem.ts";
import { fuzz } from "./fuzz.ts";

const EXAMPLE = readFileSync(new URL("../../config/lastword.yaml", import.meta.url), "utf8");
const SECRET = "sk-canary-secret";
const PIECES = [
  "\n",
  "  ",
  "- ",
  ": ",
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  "#",
  "&a ",
  "*a",
  "!!js/function",
  "<<: *a",
  "|",
  ">",
  "%",
  "@",
  "\t",
  "---\n",
  "null",
  "~",
  "1e999",
  "0x10",
  "-1",
  "true",
  "listen",
  "upstreams",
  "models",
  "recovery",
  "$" + "{X}",
  "$" + "{X:-y}",
  "$" + "{",
  "\u0000",
  "é",
  "🍵",
];

/** The example with pieces of it taken out and others put in. */
const mutated = fc
  .array(fc.tuple(fc.nat(EXAMPLE.length), fc.nat(40), fc.constantFrom("", ...PIECES)), { minLength: 1, maxLength: 8 })
  .map((edits) =>
    edits.reduce((text, [at, length, piece]) => text.slice(0, at) + piece + text.slice(at + length), EXAMPLE),
  );

const value = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e9, "", "x", "auto", "local", [], {}),
  fc.jsonValue({ maxDepth: 2 }),
);
const section = (...keys: string[]) => fc.dictionary(fc.constantFrom(...keys, "other"), value, { maxKeys: 4 });
const made = fc
  .record(
    {
      listen: section("host", "port", "keys", "allowedHosts", "allowedOrigins"),
      upstreams: fc.array(section("name", "url", "dialect", "key"), { maxLength: 3 }),
      models: fc.array(section("match", "upstream", "alias", "window", "caps", "maxAttempts"), { maxLength: 3 }),
      budget: section("minReplyTokens", "overflow", "windowTtlSeconds"),
      recovery: section("heal", "maxAttempts", "retryBackoffSeconds", "deadlineSeconds", "heartbeat"),
      limits: section("maxBodyBytes", "idleSeconds", "maxInflight"),
      state: section("redis", "replays", "replayKey"),
    },
    { requiredKeys: [] },
  )
  .map((config) => JSON.stringify(config));

fuzz("config", fc.oneof(mutated, made, fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 30 })), (file) => {
  const keyed = file.replaceAll("OPENROUTER_API_KEY", "CANARY");
  const loaded = loadConfig({ flags: {}, env: { CANARY: SECRET, X: SECRET }, file: keyed });
  if (!("problems" in loaded)) {
    expect(loaded.config.upstreams.length).toBeGreaterThan(0);
    return;
  }
  expect(loaded.problems.length).toBeGreaterThan(0);
  for (const problem of loaded.problems) {
    const told = problemText(problem);
    expect(told.length).toBeGreaterThan(3);
    expect(told).not.toContain(SECRET);
  }
});
