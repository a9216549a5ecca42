import type { Ask } from "../../core/ask.ts";
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { patched } from "../openai/patch.ts";
import type { Compose } from "../wire.ts";

/** The client's request with the messages of one attempt. */
export function compose(ask: Ask, how: Compose): JsonObject {
  const body = patched(ask, how);
  if (how.thinkingBudget !== null) {
    body.reasoning = { ...asObject(body.reasoning), max_tokens: how.thinkingBudget };
  }
  const messages = asArray(ask.body.messages);
  const { text, reasoning } = how.partial ?? { text: "", reasoning: "" };
  switch (how.how) {
    case "asked":
      break;
    case "resume":
      if (text !== "" || reasoning !== "") body.messages = resumed(messages, text, reasoning, how.mark);
      break;
    case "nudge":
      if (text !== "") body.messages = [...resumed(messages, text, "", {}), { role: "user", content: how.nudge }];
      break;
    case "hint":
      body.messages = hinted(messages, how.nudge);
      break;
    default:
      how.how satisfies never;
  }
  return body;
}

/** The partial reply in the last assistant message: the client's own prefill if it sent one, never a second such message. */
function resumed(messages: readonly Json[], text: string, reasoning: string, mark: JsonObject): Json[] {
  const last = messages.at(-1);
  const prefill = isObject(last) && last.role === "assistant" ? last : null;
  const message: JsonObject = { ...(prefill ?? { role: "assistant" }), content: appended(prefill?.content, text) };
  if (reasoning !== "") message.reasoning_content = (asString(prefill?.reasoning_content) ?? "") + reasoning;
  return [...(prefill === null ? messages : messages.slice(0, -1)), { ...message, ...mark }];
}

/** Within the user's turn where it is the last: templates want turns to alternate. */
function hinted(messages: readonly Json[], hint: string): Json[] {
  const last = messages.at(-1);
  if (!isObject(last) || last.role !== "user") return [...messages, { role: "user", content: hint }];
  return [...messages.slice(0, -1), { ...last, content: appended(last.content, `\n\n${hint}`) }];
}

function appended(content: Json | undefined, text: string): Json {
  if (!Array.isArray(content)) return (asString(content) ?? "") + text;
  const last = asObject(content.at(-1));
  if (typeof last?.text !== "string") return [...content, { type: "text", text }];
  return [...content.slice(0, -1), { ...last, text: last.text + text }];
}
