import type { Cap, Structured, ToolSpec } from "../../core/ask.ts";
import { failure, Refused } from "../../core/error.ts";
import { asArray, asObject, asString, isObject, type JsonObject } from "../../core/json.ts";

/** Every field in which a client of these wires may write an output cap. */
export const CAP_FIELDS = ["max_completion_tokens", "max_tokens", "n_predict"] as const;

/** A request that cannot be budgeted. */
export function invalid(param: string, message: string): Refused {
  return new Refused(failure("invalid_request", message, {}, param));
}

/**
 * The cap asked for. Null and absent are none, -1 is `unlimited`; of several the smallest counts.
 * @throws Refused where a field is not a whole number of at least `least`
 */
export function readCap(
  body: JsonObject,
  least: 0 | 1,
  fields: readonly string[] = CAP_FIELDS,
): { cap: Cap | null; unlimited: boolean; verbatim: boolean } {
  let cap: Cap | null = null;
  let given = 0;
  let unlimited = false;
  for (const field of fields) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    given++;
    if (typeof value !== "number" || !Number.isInteger(value) || (value < least && value !== -1)) {
      throw invalid(field, `${field} must be a whole number of at least ${least}`);
    }
    if (value === -1) unlimited = true;
    else if (cap === null || value < cap.tokens) cap = { field, tokens: value };
  }
  return { cap, unlimited: unlimited && cap === null, verbatim: given < 2 };
}

export function readStop(stop: unknown): string[] {
  if (typeof stop === "string") return [stop];
  return asArray(stop).filter((one) => typeof one === "string");
}

/** Choices asked for. */
export function readCount(n: unknown): number {
  return typeof n === "number" && Number.isInteger(n) && n > 0 ? n : 1;
}

export function readUsageWish(body: JsonObject): boolean {
  return asObject(body.stream_options)?.include_usage === true;
}

/** Tools, and functions as they were before tools. */
export function readTools(body: JsonObject): ToolSpec[] {
  const tools = asArray(body.tools).filter(isObject).flatMap(readTool);
  const functions = asArray(body.functions).filter(isObject).map(readFunction);
  return [...tools, ...functions];
}

function readTool(tool: JsonObject): ToolSpec[] {
  const custom = asObject(tool.custom);
  if (custom !== undefined) return [{ name: asString(custom.name) ?? "", schema: undefined, freeform: true }];
  return isObject(tool.function) ? [readFunction(tool.function)] : [];
}

function readFunction(spec: JsonObject): ToolSpec {
  return { name: asString(spec.name) ?? "", schema: spec.parameters };
}

/** llama-server also takes a schema beside `json_object`. */
export function readStructured(format: unknown): Structured | null {
  const asked = asObject(format);
  const schema = asObject(asked?.json_schema)?.schema ?? asked?.schema;
  if (asked?.type === "json_schema") return { kind: "json_schema", schema: schema ?? {} };
  if (asked?.type !== "json_object") return null;
  return isObject(schema) ? { kind: "json_schema", schema } : { kind: "json_object" };
}
