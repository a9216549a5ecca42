import type { Ask } from "../../core/ask.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Compose } from "../wire.ts";
import { CAP_FIELDS } from "./fields.ts";

/** The client's body with everything patched but its prompt: exactly one cap field, fields set and left out. */
export function patched(ask: Ask, compose: Compose): JsonObject {
  const body: JsonObject = { ...ask.body };
  const cap = compose.cap ?? ask.cap;
  if (cap !== null) {
    for (const field of CAP_FIELDS) if (field !== cap.field && isCap(body[field], compose)) delete body[field];
    body[cap.field] = cap.tokens;
  }
  for (const [field, value] of Object.entries(compose.set)) {
    const own = body[field];
    body[field] = isObject(value) && isObject(own) ? { ...own, ...value } : value;
  }
  for (const field of compose.without) delete body[field];
  return body;
}

/** An untouched request keeps the nulls that its client wrote. */
function isCap(value: unknown, compose: Compose): boolean {
  return compose.cap !== null || typeof value === "number";
}
