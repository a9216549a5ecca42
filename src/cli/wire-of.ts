import type { WireName } from "../core/ask.ts";
import { asArray, asObject, type Json, type JsonObject } from "../core/json.ts";

/** The wire that a request body is written for, by its fields alone; null where it has none of theirs. */
export function wireOf(body: JsonObject): WireName | null {
  if (body.messages !== undefined) return speaksMessages(body) ? "messages" : "chat";
  if (body.input !== undefined || body.instructions !== undefined) return "responses";
  return body.prompt === undefined ? null : "completions";
}

/** What Messages has and chat has not: its top-level fields, blocks and tools. Plain text alone is the same on both. */
function speaksMessages(body: JsonObject): boolean {
  return (
    ["system", "thinking", "stop_sequences", "top_k", "anthropic_version"].some((field) => body[field] !== undefined) ||
    asArray(body.tools).some((tool) => asObject(tool)?.input_schema !== undefined) ||
    asArray(body.messages).flatMap(blocksOf).some(isBlock)
  );
}

const BLOCKS = new Set<unknown>(["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"]);

function blocksOf(message: Json): Json[] {
  return asArray(asObject(message)?.content);
}

function isBlock(block: Json): boolean {
  return BLOCKS.has(asObject(block)?.type);
}
