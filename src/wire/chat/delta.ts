import { asArray, asNumber, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import type { Choice } from "../openai/frame.ts";

/** Text blocks of this wire: what the model says, and its refusal to say it, which has a field of its own. */
const CONTENT = 0;
export const REFUSAL = 1;

/** Where servers put reasoning as text: DeepSeek, LM Studio, llama-server the first; OpenRouter, vLLM, Ollama the second. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

/** Reads the delta of a chunk's choice, or the message of a body's. */
export const chatChoice: Choice = {
  said: (choice) => partsOf(asObject(choice.delta) ?? asObject(choice.message) ?? {}),
  speaks: (choice) =>
    Object.entries(asObject(choice.delta) ?? {}).some(([key, value]) => key !== "role" && says(value)),
  silence: { delta: {} },
};

/** Whether a field holds anything. */
export function says(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isObject(value) || Object.keys(value).length > 0;
}

function partsOf(said: JsonObject): Part[] {
  const parts: Part[] = [];
  const reasoning = reasoningIn(said);
  if (reasoning !== "") parts.push({ kind: "reasoning", block: 0, text: reasoning });
  const details = asArray(said.reasoning_details);
  if (details.length > 0 && details.every(isEncrypted)) parts.push({ kind: "sealed_reasoning", block: 0, whole: true });
  else if (details.some(isSealed)) parts.push({ kind: "sealed_reasoning", block: 0 });
  parts.push(...contentOf(said.content));
  const refusal = asString(said.refusal) ?? "";
  if (refusal !== "") parts.push({ kind: "text", block: REFUSAL, text: refusal });
  parts.push(...callsOf(said));
  return parts;
}

/** The same reasoning may stand in several fields at once: one of them is read. */
export function reasoningIn(said: JsonObject): string {
  for (const field of REASONING_FIELDS) {
    const text = asString(said[field]) ?? "";
    if (text !== "") return text;
  }
  let text = "";
  for (const detail of asArray(said.reasoning_details)) {
    text += asString(asObject(detail)?.text) ?? asString(asObject(detail)?.summary) ?? "";
  }
  return text;
}

/** OpenRouter: nothing of it can be read, and all of it must go back. */
function isEncrypted(detail: Json): boolean {
  return asObject(detail)?.type === "reasoning.encrypted";
}

/** OpenRouter: `reasoning.encrypted`, `reasoning.summary`, and `reasoning.text` once its signature has come. */
function isSealed(detail: Json): boolean {
  const { type, signature } = asObject(detail) ?? {};
  return type === "reasoning.encrypted" || type === "reasoning.summary" || (asString(signature) ?? "") !== "";
}

/** A string, or Mistral's typed parts. */
function contentOf(content: Json | undefined): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", block: CONTENT, text: content }];
  return asArray(content)
    .filter(isObject)
    .map((part): Part => {
      if (part.type !== "thinking") return { kind: "text", block: CONTENT, text: asString(part.text) ?? "" };
      return { kind: "reasoning", block: 0, text: thinkingIn(part.thinking) };
    })
    .filter((part) => "text" in part && part.text !== "");
}

function thinkingIn(thinking: Json | undefined): string {
  if (typeof thinking === "string") return thinking;
  let text = "";
  for (const part of asArray(thinking)) text += asString(asObject(part)?.text) ?? "";
  return text;
}

function callsOf(said: JsonObject): Part[] {
  const parts: Part[] = [];
  asArray(said.tool_calls).forEach((value, position) => {
    const call = asObject(value);
    const called = asObject(call?.function) ?? asObject(call?.custom);
    if (called === undefined) return;
    parts.push({ ...pieceOf(called), block: asNumber(call?.index) ?? position, id: asString(call?.id) ?? "" });
  });
  const legacy = asObject(said.function_call);
  if (legacy !== undefined && says(legacy)) parts.push({ ...pieceOf(legacy), block: 0, id: "" });
  return parts;
}

function pieceOf(called: JsonObject): { kind: "tool"; name: string; args: string } {
  const args = called.arguments ?? called.input;
  return {
    kind: "tool",
    name: asString(called.name) ?? "",
    args: asString(args) ?? (isObject(args) ? JSON.stringify(args) : ""),
  };
}
