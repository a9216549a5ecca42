import type { Ask } from "../../core/ask.ts";
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { patched } from "../openai/patch.ts";
import type { Compose } from "../wire.ts";
import { FORMAT_FIELD } from "./read.ts";

/** The client's request with the messages of one attempt. */
export function compose(ask: Ask, how: Compose): JsonObject {
  const without = how.without.filter((field) => field !== FORMAT_FIELD);
  const body = patched(ask, { ...how, without });
  if (without.length < how.without.length) dropFormat(body);
  if (how.thinkingBudget !== null) {
    body.thinking = { ...asObject(body.thinking), budget_tokens: how.thinkingBudget };
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

/** Only the format goes: the same field holds the effort. */
function dropFormat(body: JsonObject): void {
  const { format, ...rest } = asObject(body[FORMAT_FIELD]) ?? {};
  delete body.output_format;
  delete body[FORMAT_FIELD];
  if (Object.keys(rest).length > 0) body[FORMAT_FIELD] = rest;
}

/** The partial reply in the last assistant message: the client's own prefill if it sent one, never a second such message. */
function resumed(messages: readonly Json[], text: string, reasoning: string, mark: JsonObject): Json[] {
  const last = messages.at(-1);
  const prefill = isObject(last) && last.role === "assistant" ? last : null;
  const content = withThought(appended(prefill?.content, text), reasoning);
  return [
    ...(prefill === null ? messages : messages.slice(0, -1)),
    { ...(prefill ?? { role: "assistant" }), content, ...mark },
  ];
}

/** Within the user's turn where it is the last; results of tools come before words in it. */
function hinted(messages: readonly Json[], hint: string): Json[] {
  const last = messages.at(-1);
  if (!isObject(last) || last.role !== "user") return [...messages, { role: "user", content: hint }];
  return [...messages.slice(0, -1), { ...last, content: appended(last.content, `\n\n${hint}`) }];
}

/** In the last text block, not beside it: servers set blank lines between blocks. */
function appended(content: Json | undefined, text: string): Json {
  if (!Array.isArray(content)) return (asString(content) ?? "") + text;
  const last = asObject(content.at(-1));
  if (last?.type === "text") return [...content.slice(0, -1), { ...last, text: (asString(last.text) ?? "") + text }];
  return text === "" ? content : [...content, { type: "text", text }];
}

/** A message thinks before it speaks. */
function withThought(content: Json, reasoning: string): Json {
  if (reasoning === "") return content;
  const blocks = Array.isArray(content) ? content : content === "" ? [] : [{ type: "text", text: content }];
  return [{ type: "thinking", thinking: reasoning, signature: "" }, ...blocks];
}
