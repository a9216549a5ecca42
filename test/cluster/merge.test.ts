import { expect, test } from "vitest";
import { mergedStatus, mergedTallies } from "../../src/cluster/merge.ts";
import { createTallies } from "../../src/events/tally.ts";

const finished = (model: string, outcome: "complete" | "healed") =>
  ({
    type: "finished",
    id: "1",
    model,
    wire: "chat",
    upstream: "up",
    outcome,
    cause: outcome === "healed" ? "reply_cap" : null,
    code: null,
    ms: 1,
    promptTokensEstimated: null,
    countMethod: null,
    promptTokens: null,
    completionTokens: null,
    billedPromptTokens: 0,
    billedCompletionTokens: 0,
    attempts: 1,
  }) as const;

function tallies(...events: ReturnType<typeof finished>[]) {
  const counted = createTallies((name) => String(name));
  for (const event of events) counted.event(event);
  return counted.list();
}

test("tallies of several processes add up per model", () => {
  const merged = mergedTallies([
    tallies(finished("a", "complete"), finished("b", "healed")),
    tallies(finished("a", "complete"), finished("a", "healed")),
  ]);
  expect(merged.map(({ model, requests }) => [model, requests])).toEqual([
    ["a", 3],
    ["b", 1],
  ]);
  expect(merged[0]?.outcomes).toMatchObject({ complete: 2, healed: 1, failed: 0 });
  expect(merged[0]?.causes).toMatchObject({ reply_cap: 1 });
});

test("statuses stand side by side, newest first, and one alone stays as it is", () => {
  const one = {
    version: "1",
    recent: [{ id: "x", endedAt: 1 }],
    live: [],
    series: [{ from: 0, outcomes: { complete: 1 } }],
    tokens_saved: 1,
    models: [],
    tallies: [],
  };
  const two = {
    ...one,
    recent: [{ id: "y", endedAt: 2 }],
    series: [{ from: 0, outcomes: { complete: 2, failed: 1 } }],
  };
  expect(mergedStatus([one, two])).toMatchObject({
    recent: [{ id: "y" }, { id: "x" }],
    series: [{ from: 0, outcomes: { complete: 3, failed: 1 } }],
    tokens_saved: 2,
  });
  expect(mergedStatus([one])).toEqual(one);
});
