import { asArray, isObject, type Json, type JsonObject } from "../core/json.ts";
import type { History } from "./wire.ts";

type Role = ReturnType<History["messages"]>[number]["role"];

/**
 * The history in a field that is a list of messages or items.
 *
 * @param field where it stands
 * @param pick what of the body is counted with one message alone: the field itself
 * @param roleOf the role of a message or item
 * @param shorten a tool result with a notice in place of what it said
 */
export function historyIn(
  field: "messages" | "input",
  roleOf: (message: JsonObject) => Role,
  shorten: (message: JsonObject, notice: string) => JsonObject,
): History {
  return {
    messages: (body) =>
      listed(body[field]).map((message) => ({ role: roleOf(message), alone: { [field]: [message] } })),
    shorten(body, { kept, shortened }, notice) {
      const all = listed(body[field]);
      const short = new Set(shortened);
      const messages = kept.flatMap((place): Json[] => {
        const message = all[place];
        if (message === undefined) return [];
        return [short.has(place) ? shorten(message, notice) : message];
      });
      return { ...body, [field]: messages };
    },
  };
}

function listed(value: Json | undefined): JsonObject[] {
  return asArray(value).filter(isObject);
}
