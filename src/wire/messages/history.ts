import { asArray, asObject, isObject, type JsonObject } from "../../core/json.ts";
import { historyIn } from "../history.ts";

/** Messages by role; a user's message that brings tool results is a tool's. */
export const history = historyIn(
  "messages",
  (message) => (message.role === "assistant" ? "assistant" : hasResult(message) ? "tool" : "user"),
  (message, notice) => ({
    ...message,
    content: asArray(message.content).map((block) =>
      isObject(block) && block.type === "tool_result" ? { ...block, content: notice } : block,
    ),
  }),
);

function hasResult(message: JsonObject): boolean {
  return asArray(message.content).some((block) => asObject(block)?.type === "tool_result");
}
