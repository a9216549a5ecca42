import { asArray, asObject, asString, type JsonObject } from "../../core/json.ts";
import type { Job } from "../job.ts";

/** Fields that speak of tools, on any wire. */
export const TOOL_FIELDS = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"] as const;

/** Tools stay in sight, but none may be called. */
export function noCalls(job: Job): JsonObject {
  if (job.wire.name === "messages")
    return { tool_choice: { type: "none", name: undefined, disable_parallel_tool_use: undefined } };
  return job.ask.body.functions === undefined ? { tool_choice: "none" } : { function_call: "none" };
}

/** One call at most; {}: it is so already, or cannot be said. */
export function oneCall({ wire, ask: { body } }: Job): JsonObject {
  if (asArray(body.tools).length === 0) return {};
  if (wire.name !== "messages") return body.parallel_tool_calls === false ? {} : { parallel_tool_calls: false };
  const type = asString(asObject(body.tool_choice)?.type) ?? "auto";
  return { tool_choice: { type, disable_parallel_tool_use: true } };
}
