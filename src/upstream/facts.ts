import { asArray, asObject, isObject, type JsonObject } from "../core/json.ts";
import type { ModelFacts, Query } from "./dialect.ts";

export type Answer = Awaited<ReturnType<Query>>;
export type Discovered = { readonly models: readonly ModelFacts[] } | { readonly refused: number } | null;

/** A number of tokens, or null. Servers write 0, null or -1 for "not known": none of them is a size. */
export function tokens(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** The first that is known. */
export function firstTokens(...values: readonly unknown[]): number | null {
  for (const value of values) {
    const known = tokens(value);
    if (known !== null) return known;
  }
  return null;
}

/** The smaller of what is known. */
export function least(...values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Facts of a model, with "not told" for all that is left out. Without a window, the source says what else is known. */
export function modelFacts(
  names: readonly string[],
  told: Partial<Omit<ModelFacts, "names" | "source">> & { readonly source?: "loaded" | "served" | "catalog" } = {},
): ModelFacts {
  const { window = null, trained = null, source = "loaded", ...rest } = told;
  return {
    names: [...new Set(names)],
    window,
    trained,
    source: window !== null ? source : trained !== null ? "trained" : "unknown",
    maxOutput: null,
    maxInput: null,
    reasoning: null,
    provisional: false,
    anyName: false,
    ...rest,
  };
}

/** The objects of a list at `field`, or null where the answer is no such list. */
export function itemsOf(answer: Answer, field = "data"): JsonObject[] | null {
  const list = asObject(answer?.json)?.[field];
  return Array.isArray(list) ? asArray(list).filter(isObject) : null;
}

/** Whether the answer asks for a key. */
export function refusalOf(answer: Answer): { readonly refused: number } | null {
  return answer !== null && (answer.status === 401 || answer.status === 403) ? { refused: answer.status } : null;
}

/** Discovery from an OpenAI-style list: what `read` makes of each item. */
export async function discoverListed(
  query: Query,
  read: (item: JsonObject, id: string, all: readonly JsonObject[]) => ModelFacts,
): Promise<Discovered> {
  const answer = await query("GET", "v1", "/models");
  const items = itemsOf(answer);
  if (items === null) return refusalOf(answer);
  return {
    models: items.flatMap((item) =>
      typeof item.id === "string" && item.id !== "" ? [read(item, item.id, items)] : [],
    ),
  };
}
