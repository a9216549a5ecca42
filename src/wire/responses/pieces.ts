import type { Piece } from "../../core/ask.ts";
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { file, opens, text } from "../pieces.ts";
import { readFormat } from "./read.ts";

/**
 * What of a request costs prompt tokens. Templates set tools and schema in front of the conversation.
 * What a server remembers of itself (`previous_response_id`, `conversation`, item references) cannot be seen here.
 */
export function pieces(body: JsonObject): Piece[] {
  const all: Piece[] = asArray(body.tools).map((tool) => ({ kind: "tool_definition", json: JSON.stringify(tool) }));
  const format = readFormat(body);
  if (format?.kind === "json_schema") all.push({ kind: "schema", json: JSON.stringify(format.schema) });
  if (typeof body.instructions === "string") all.push(opens("system"), text("system", body.instructions));
  else all.push(...ofItems(body.instructions));
  if (typeof body.input === "string") return [...all, opens("user"), text("user", body.input)];
  return [...all, ...ofItems(body.input)];
}

function ofItems(items: Json | undefined): Piece[] {
  return asArray(items).filter(isObject).flatMap(ofItem);
}

function ofItem(item: JsonObject): Piece[] {
  switch (item.type ?? "message") {
    case "message": {
      const role = asString(item.role) ?? "";
      return [opens(role), ...ofContent(role, item.content)];
    }
    case "function_call":
      return [{ kind: "tool_call", name: asString(item.name) ?? "", args: asString(item.arguments) ?? "" }];
    case "custom_tool_call":
      return [{ kind: "tool_call", name: asString(item.name) ?? "", args: asString(item.input) ?? "" }];
    case "function_call_output":
    case "custom_tool_call_output":
      return [opens("tool"), ...ofContent("tool", item.output)];
    case "reasoning":
      return [...ofContent("assistant", item.content), ...ofContent("assistant", item.summary)];
    case "item_reference":
      return [];
    default:
      // An unknown item costs something: its JSON is nearer than nothing.
      return [text("assistant", JSON.stringify(item))];
  }
}

function ofContent(role: string, content: Json | undefined): Piece[] {
  if (typeof content === "string") return [text(role, content)];
  return asArray(content)
    .filter(isObject)
    .flatMap((part) => ofPart(role, part));
}

function ofPart(role: string, part: JsonObject): Piece[] {
  switch (part.type) {
    case "input_image": {
      const url = asString(part.image_url) ?? asString(asObject(part.image_url)?.url) ?? "";
      return [{ kind: "image", url, detail: part.detail === "low" || part.detail === "high" ? part.detail : "auto" }];
    }
    case "input_audio": {
      const audio = asObject(part.input_audio);
      return [{ kind: "audio", base64: asString(audio?.data) ?? "", format: asString(audio?.format) ?? "" }];
    }
    case "input_file":
      return [file(asString(part.file_data) ?? "")];
    case "refusal":
      return [text(role, asString(part.refusal) ?? "")];
    default:
      return [text(role, asString(part.text) ?? JSON.stringify(part))];
  }
}
