import { historyIn } from "../history.ts";

/** Messages by role; a tool result is a message of its own. */
export const history = historyIn(
  "messages",
  ({ role }) =>
    role === "system" || role === "developer" ? "system" : role === "assistant" || role === "tool" ? role : "user",
  (message, notice) => ({ ...message, content: notice }),
);
