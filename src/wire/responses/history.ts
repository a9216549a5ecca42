import type { JsonObject } from "../../core/json.ts";
import { historyIn } from "../history.ts";

/** Input items: messages by role, calls and reasoning as the assistant's, outputs as the tool's. */
export const history = historyIn("input", roleOf, (item, notice) => ({ ...item, output: notice }));

function roleOf({ type, role }: JsonObject): "system" | "user" | "assistant" | "tool" {
  if (type === "function_call_output" || type === "custom_tool_call_output") return "tool";
  if (type === undefined || type === "message") {
    if (role === "system" || role === "developer") return "system";
    return role === "assistant" ? "assistant" : "user";
  }
  return "assistant";
}
