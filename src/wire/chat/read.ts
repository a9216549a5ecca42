import type { Ask } from "../../core/ask.ts";
import { asArray, asNumber, asObject, asString, isObject, type JsonObject } from "../../core/json.ts";
import { invalid, readCap, readCount, readStop, readStructured, readTools, readUsageWish } from "../openai/fields.ts";

/** @throws Refused where the messages or a cap have the wrong type */
export function read(body: JsonObject): Ask {
  if (!Array.isArray(body.messages) || !body.messages.every(isObject)) {
    throw invalid("messages", "messages must be an array of objects");
  }
  const n = readCount(body.n);
  return {
    wire: "chat",
    body,
    model: asString(body.model) ?? "",
    stream: body.stream === true,
    ...readCap(body, 1),
    thinkingBudget: asNumber(asObject(body.reasoning)?.max_tokens) ?? null,
    stop: readStop(body.stop),
    tools: readTools(body),
    structured: readStructured(body.response_format),
    wantsUsage: readUsageWish(body),
    logprobs: body.logprobs === true,
    n,
    unhealable: unhealable(body, n),
  };
}

function unhealable(body: JsonObject, n: number): string | null {
  if (n > 1) return "n";
  return asArray(body.modalities).includes("audio") ? "audio" : null;
}
