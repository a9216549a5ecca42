import fc from "fast-check";
import { expect } from "vitest";
import { ceilingCount } from "../../src/budget/count.ts";
import { Refused } from "../../src/core/error.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { BOUNDS, unbearable } from "../../src/core/structure.ts";
import { wires } from "../../src/wire/index.ts";
import type { Compose } from "../../src/wire/wire.ts";
import { AS_ASKED } from "../support/as-asked.ts";
import { fuzz } from "./fuzz.ts";
import { bodies } from "./inputs.ts";

const CAPS = ["max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict"];
const LATER: readonly Compose[] = [
  { ...AS_ASKED, cap: { field: "max_tokens", tokens: 7 }, set: { stream_options: { include_usage: true } } },
  { ...AS_ASKED, how: "resume", partial: { text: "so far", reasoning: "thought" }, mark: { prefix: true } },
  { ...AS_ASKED, how: "nudge", partial: { text: "so far", reasoning: "" }, nudge: "Go on." },
  { ...AS_ASKED, how: "hint", nudge: "Be brief." },
];

for (const wire of wires) {
  fuzz(`requests-${wire.name}`, bodies, (body) => {
    const before = JSON.stringify(body);
    const ask = readOrRefused(() => wire.read(body as JsonObject));
    if (ask === null) return;
    const pieces = wire.pieces(ask.body);
    const { tokens } = ceilingCount(pieces, { upstream: "u", model: ask.model, bodyBytes: Buffer.byteLength(before) });
    expect(tokens).toBeGreaterThanOrEqual(0);
    expect(Number.isFinite(tokens)).toBe(true);
    for (const compose of [AS_ASKED, ...LATER]) JSON.stringify(wire.compose(ask, compose));
    wire.history?.messages(ask.body);
    // What a client sent is its own, whatever is made of it.
    expect(JSON.stringify(body)).toBe(before);
    // A cap of another wire's goes with the rest of the caps.
    const caps = CAPS.filter((field) => body[field] !== undefined && field !== wire.capField);
    if (!ask.verbatim || caps.length > 0) return;
    expect(JSON.parse(JSON.stringify(wire.compose(ask, AS_ASKED)))).toEqual(JSON.parse(before));
  });
}

/** null: refused, with a sentence for people. Anything else that is thrown is a defect. */
function readOrRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    expect(error.failure.code).toBe("invalid_request");
    expect(error.failure.message.length).toBeGreaterThan(10);
    return null;
  }
}

const json = fc.jsonValue({ maxDepth: 8, noUnicodeString: false }).map((value) => JSON.stringify(value));

fuzz("structure", fc.tuple(json, fc.nat(BOUNDS.depth + 8)), ([inner, levels]) => {
  const text = "[".repeat(levels) + inner + " ".repeat(5_000) + "]".repeat(levels);
  const deepest = levels + depthOf(JSON.parse(inner));
  expect(unbearable(Buffer.from(text))).toBe(deepest > BOUNDS.depth ? "depth" : null);
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
