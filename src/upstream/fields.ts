import type { WireName } from "../core/ask.ts";
import type { JsonObject } from "../core/json.ts";

/** A wire's own cap field, as every server that speaks it reads it. */
export function capOf(wire: WireName): string {
  return wire === "responses" ? "max_output_tokens" : "max_tokens";
}

/** llama.cpp's `n_predict` is read by nobody else; every other field is left as the client chose it. */
export function withoutNPredict(wire: WireName, field: string): string {
  return field === "n_predict" ? capOf(wire) : field;
}

/** Those fields of a body that are there. */
export function pick(body: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.flatMap((field) => (body[field] === undefined ? [] : [[field, body[field]]])));
}
