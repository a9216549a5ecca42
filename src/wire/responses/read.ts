import type { Ask, Structured, ToolSpec } from "../../core/ask.ts";
import { asArray, asNumber, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { invalid, readCap } from "../openai/fields.ts";

/** Where the format stands, beside other things. */
export const FORMAT_FIELD = "text";

/** @throws Refused where the input, the instructions or the cap have the wrong type */
export function read(body: JsonObject): Ask {
  const { input, instructions } = body;
  const items = Array.isArray(input) && input.every(isObject);
  if (isGiven(input) && typeof input !== "string" && !items) {
    throw invalid("input", "input must be a string or an array of items");
  }
  if (isGiven(instructions) && typeof instructions !== "string" && !Array.isArray(instructions)) {
    throw invalid("instructions", "instructions must be a string");
  }
  return {
    wire: "responses",
    body,
    model: asString(body.model) ?? "",
    stream: body.stream === true,
    ...readCap(body, 1, ["max_output_tokens"]),
    thinkingBudget: null,
    stop: [],
    tools: asArray(body.tools).filter(isObject).filter(isClientTool).map(readTool),
    structured: readFormat(body),
    wantsUsage: true,
    logprobs: (asNumber(body.top_logprobs) ?? 0) > 0 || asArray(body.include).includes("message.output_text.logprobs"),
    n: 1,
    unhealable: body.background === true ? "background" : null,
  };
}

/** `text.format`; null where it asks for plain text. */
export function readFormat(body: JsonObject): Structured | null {
  const format = asObject(asObject(body[FORMAT_FIELD])?.format);
  if (format?.type === "json_schema") return { kind: "json_schema", schema: format.schema ?? {} };
  return format?.type === "json_object" ? { kind: "json_object" } : null;
}

/** All others are run by the server. */
function isClientTool(tool: JsonObject): boolean {
  return tool.type === "function" || tool.type === "custom";
}

function readTool(tool: JsonObject): ToolSpec {
  const name = asString(tool.name) ?? "";
  return tool.type === "custom" ? { name, schema: undefined, freeform: true } : { name, schema: tool.parameters };
}

function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}
