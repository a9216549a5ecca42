import type { Ask, Structured } from "../../core/ask.ts";
import { asArray, asObject, asString, isObject, type JsonObject } from "../../core/json.ts";
import { invalid, readCap, readStop } from "../openai/fields.ts";

/**
 * Also reads what `count_tokens` is asked: there no cap is needed.
 * @throws Refused where the messages, the system text, a cap or the thinking budget have the wrong type
 */
export function read(body: JsonObject): Ask {
  if (!Array.isArray(body.messages) || !body.messages.every(isObject)) {
    throw invalid("messages", "messages must be an array of objects");
  }
  if (body.system !== undefined && typeof body.system !== "string" && !Array.isArray(body.system)) {
    throw invalid("system", "system must be a string or an array of blocks");
  }
  return {
    wire: "messages",
    body,
    model: asString(body.model) ?? "",
    stream: body.stream === true,
    ...readCap(body, 1, ["max_tokens"]),
    thinkingBudget: readBudget(asObject(body.thinking)),
    stop: readStop(body.stop_sequences),
    tools: asArray(body.tools)
      .filter(isObject)
      .map((tool) => ({ name: asString(tool.name) ?? "", schema: tool.input_schema })),
    structured: readFormat(body),
    wantsUsage: true,
    logprobs: false,
    n: 1,
    unhealable: null,
  };
}

function readBudget(thinking: JsonObject | undefined): number | null {
  const budget = thinking?.budget_tokens;
  if (budget === undefined || budget === null) return null;
  if (typeof budget !== "number" || !Number.isInteger(budget) || budget < 0) {
    throw invalid("thinking.budget_tokens", "thinking.budget_tokens must be a whole number");
  }
  return budget;
}

/** Holds more than the format. */
export const FORMAT_FIELD = "output_config";

/** `output_config.format`, or `output_format` as it was called in beta. */
export function readFormat(body: JsonObject): Structured | null {
  const format = asObject(asObject(body[FORMAT_FIELD])?.format) ?? asObject(body.output_format);
  return format?.type === "json_schema" ? { kind: "json_schema", schema: format.schema ?? {} } : null;
}
