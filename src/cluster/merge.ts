import { CAUSES, OUTCOMES } from "../core/cut.ts";
import { asArray, asNumber, asObject, asString, type JsonObject } from "../core/json.ts";
import type { Tally } from "../events/tally.ts";

/** The last requests that are shown of all processes together. */
const RECENT = 200;

/** Tallies of several processes as of one: sums per model. */
export function mergedTallies(parts: readonly unknown[]): Tally[] {
  const merged = new Map<string, JsonObject>();
  for (const tally of parts.flatMap(asArray).map(asObject)) {
    const model = asString(tally?.model);
    if (tally === undefined || model === undefined) continue;
    const before = merged.get(model);
    merged.set(model, before === undefined ? tally : summed(before, tally));
  }
  return [...merged.values()].map((tally) => ({
    model: asString(tally.model) ?? "unknown",
    requests: asNumber(tally.requests) ?? 0,
    outcomes: counts(OUTCOMES, tally.outcomes),
    causes: counts(CAUSES, tally.causes),
    cutAsAsked: asNumber(tally.cutAsAsked) ?? 0,
  }));
}

/** Several processes' `/status` as one: what is live or has ended stands side by side, what is counted is added. */
export function mergedStatus(parts: readonly unknown[]): JsonObject {
  const all = parts.map(asObject).filter((part) => part !== undefined);
  const [first = {}] = all;
  const listed = (field: string) => all.flatMap((part) => asArray(part[field]));
  const recent = listed("recent").map((one) => asObject(one) ?? {});
  recent.sort((a, b) => (asNumber(b.endedAt) ?? 0) - (asNumber(a.endedAt) ?? 0));
  return {
    ...first,
    models: unique(listed("models"), (model) => `${model.upstream}\n${model.model}`),
    live: listed("live"),
    recent: recent.slice(0, RECENT),
    series: slices(listed("series").map((one) => asObject(one) ?? {})),
    tokens_saved: all.reduce((sum, part) => sum + (asNumber(part.tokens_saved) ?? 0), 0),
    tallies: mergedTallies(all.map((part) => part.tallies)) as unknown as JsonObject[],
  };
}

function slices(all: readonly JsonObject[]): JsonObject[] {
  const byTime = new Map<number, JsonObject>();
  for (const slice of all) {
    const from = asNumber(slice.from) ?? 0;
    const before = byTime.get(from);
    byTime.set(
      from,
      before === undefined
        ? slice
        : { from, outcomes: summed(asObject(before.outcomes) ?? {}, asObject(slice.outcomes) ?? {}) },
    );
  }
  return [...byTime.values()].sort((a, b) => (asNumber(a.from) ?? 0) - (asNumber(b.from) ?? 0));
}

function unique(all: readonly unknown[], keyOf: (one: JsonObject) => string): JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const one of all.map(asObject)) if (one !== undefined && !found.has(keyOf(one))) found.set(keyOf(one), one);
  return [...found.values()];
}

/** Numbers are added, objects of numbers likewise; anything else is the first one's. */
function summed(a: JsonObject, b: JsonObject): JsonObject {
  const sum: JsonObject = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const own = sum[name];
    const inner = asObject(value);
    if (typeof value === "number") sum[name] = (asNumber(own) ?? 0) + value;
    else if (inner !== undefined) sum[name] = summed(asObject(own) ?? {}, inner);
    else if (own === undefined) sum[name] = value;
  }
  return sum;
}

function counts<K extends string>(names: readonly K[], of: unknown): Record<K, number> {
  const told = asObject(of) ?? {};
  return Object.fromEntries(names.map((name) => [name, asNumber(told[name]) ?? 0])) as Record<K, number>;
}
