import type { Piece } from "../../core/ask.ts";
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { opens, text } from "../pieces.ts";
import { readFormat } from "./read.ts";

/** What of a request costs prompt tokens. Templates set tools and schema in front of the conversation. */
export function pieces(body: JsonObject): Piece[] {
  const all: Piece[] = asArray(body.tools).map((tool) => ({ kind: "tool_definition", json: JSON.stringify(tool) }));
  const format = readFormat(body);
  if (format?.kind === "json_schema") all.push({ kind: "schema", json: JSON.stringify(format.schema) });
  if (body.system !== undefined) all.push(opens("system"), ...ofContent("system", body.system));
  for (const message of asArray(body.messages)) if (isObject(message)) all.push(...ofMessage(message));
  return all;
}

/** Tool results are shown to the model as messages of their own. */
function ofMessage(message: JsonObject): Piece[] {
  const role = asString(message.role) ?? "";
  if (!Array.isArray(message.content)) return [opens(role), ...ofContent(role, message.content)];
  const results = message.content.filter((block) => asObject(block)?.type === "tool_result");
  const others = message.content.filter((block) => asObject(block)?.type !== "tool_result");
  const all = results.flatMap((result) => [opens("tool"), ...ofContent("tool", asObject(result)?.content)]);
  if (others.length > 0 || results.length === 0) all.push(opens(role), ...ofContent(role, others));
  return all;
}

function ofContent(role: string, content: Json | undefined): Piece[] {
  if (typeof content === "string") return [text(role, content)];
  return asArray(content)
    .filter(isObject)
    .flatMap((block) => ofBlock(role, block));
}

function ofBlock(role: string, block: JsonObject): Piece[] {
  switch (block.type) {
    case "text":
      return [text(role, asString(block.text) ?? "")];
    case "thinking":
      return [text(role, asString(block.thinking) ?? "")];
    case "redacted_thinking":
      return [];
    case "image":
      return [{ kind: "image", url: urlOf(asObject(block.source)), detail: "auto" }];
    case "document":
      return [...ofTitles(role, block), ...ofDocument(role, asObject(block.source))];
    case "search_result":
      return [...ofTitles(role, block), ...ofContent(role, block.content)];
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return [{ kind: "tool_call", name: asString(block.name) ?? "", args: JSON.stringify(block.input ?? {}) }];
    default:
      // An unknown block costs something: its JSON is nearer than nothing.
      return [text(role, JSON.stringify(block))];
  }
}

function ofTitles(role: string, block: JsonObject): Piece[] {
  return [block.title, block.context, block.source]
    .filter((title) => typeof title === "string")
    .map((title) => text(role, title));
}

function ofDocument(role: string, source: JsonObject | undefined): Piece[] {
  switch (source?.type) {
    case "text":
      return [text(role, asString(source.data) ?? "")];
    case "content":
      return ofContent(role, source.content);
    default:
      // What lies behind a URL or a file id is not known here.
      return [{ kind: "file", base64: asString(source?.data) ?? "", mime: asString(source?.media_type) ?? "" }];
  }
}

function urlOf(source: JsonObject | undefined): string {
  if (typeof source?.data !== "string") return asString(source?.url) ?? "";
  return `data:${asString(source.media_type) ?? ""};base64,${source.data}`;
}
