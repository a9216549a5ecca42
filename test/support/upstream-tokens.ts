import type { WireName } from "../../src/core/ask.ts";
import { asArray, asObject, asString, type Json, type JsonObject } from "../../src/core/json.ts";

/** The scripted models' tokenizer: about as many tokens as real ones, deterministic, and the pieces join to the text. */
export function tokenize(text: string): string[] {
  return text.match(/<\|[a-z_]+\|>| ?\p{L}{1,8}|\p{N}{1,3}| ?[^\s\p{L}\p{N}]{1,2}|\s{1,16}/gu) ?? [];
}

/** One turn of a conversation, whatever the wire. */
export interface Turn {
  readonly role: string;
  readonly text: string;
  readonly reasoning: string;
  /** The message itself, for its marks (`prefix`, `partial`, `status`). */
  readonly message: JsonObject;
}

/** The conversation of a request; a completions prompt is one turn without a role. */
export function turnsOf(wire: WireName, body: JsonObject): Turn[] {
  switch (wire) {
    case "chat":
      return asArray(body.messages).map(turn);
    case "completions":
      return [{ role: "", text: promptOf(body), reasoning: "", message: {} }];
    case "messages":
      return [...optional("system", textOf(body.system)), ...asArray(body.messages).map(turn)];
    case "responses": {
      const input = typeof body.input === "string" ? optional("user", body.input) : asArray(body.input).map(turn);
      return [...optional("system", textOf(body.instructions)), ...input];
    }
    default:
      return wire satisfies never;
  }
}

function promptOf(body: JsonObject): string {
  return typeof body.prompt === "string" ? body.prompt : asArray(body.prompt).filter(isString).join("");
}

const isString = (value: Json): value is string => typeof value === "string";

const optional = (role: string, text: string): Turn[] =>
  text === "" ? [] : [{ role, text, reasoning: "", message: {} }];

function turn(value: Json): Turn {
  const message = asObject(value) ?? {};
  const calls = [...asArray(message.tool_calls), ...(message.type === "function_call" ? [message] : [])];
  // Of Responses, a thought is an item of its own.
  if (message.type === "reasoning") return { role: "assistant", text: "", reasoning: textOf(message.content), message };
  const spoken = textOf(message.content) || textOf(message.output);
  return {
    role: asString(message.role) ?? (message.type === "function_call" ? "assistant" : "tool"),
    text: spoken + (calls.length === 0 ? "" : JSON.stringify(calls)),
    reasoning: asString(message.reasoning_content) ?? asString(message.reasoning) ?? thinkingOf(message.content),
    message,
  };
}

/** The thinking blocks of a Messages content. */
function thinkingOf(content: Json | undefined): string {
  return asArray(content)
    .map((block) => asString(asObject(block)?.thinking) ?? "")
    .join("");
}

/** The text of a content field: a string, or its parts joined. */
function textOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return asArray(content)
    .map((part) => {
      const fields = asObject(part) ?? {};
      return asString(fields.text) ?? textOf(fields.content);
    })
    .join("");
}

/** The prompt as a ChatML template renders it. With `open`, the last turn is left open to be gone on with. */
export function renderPrompt(wire: WireName, body: JsonObject, open = false): string {
  if (wire === "completions") return promptOf(body);
  const turns = turnsOf(wire, body);
  const tools = asArray(body.tools);
  let prompt = tools.length === 0 ? "" : `<|im_start|>system\n# Tools\n${JSON.stringify(tools)}<|im_end|>\n`;
  turns.forEach((each, index) => {
    const thought = each.reasoning === "" ? "" : `<think>\n${each.reasoning}\n</think>\n\n`;
    prompt += `<|im_start|>${each.role}\n${thought}${each.text}`;
    if (!open || index < turns.length - 1) prompt += "<|im_end|>\n";
  });
  return open ? prompt : `${prompt}<|im_start|>assistant\n`;
}

/** Prompt tokens of a request, as the scripted server counts them. */
export function promptTokens(wire: WireName, body: JsonObject): number {
  return tokenize(renderPrompt(wire, body)).length;
}
