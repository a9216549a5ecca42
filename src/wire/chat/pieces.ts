import type { Piece } from "../../core/ask.ts";
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { file, opens, text } from "../pieces.ts";
import { reasoningIn } from "./delta.ts";

/** What of a chat request costs prompt tokens. Templates set tools and schema in front of the conversation. */
export function pieces(body: JsonObject): Piece[] {
  const all: Piece[] = [];
  for (const tool of [...asArray(body.tools), ...asArray(body.functions)]) {
    all.push({ kind: "tool_definition", json: JSON.stringify(tool) });
  }
  const format = asObject(body.response_format);
  const schema = format?.json_schema ?? format?.schema;
  if (isObject(schema)) all.push({ kind: "schema", json: JSON.stringify(schema) });
  for (const message of asArray(body.messages)) if (isObject(message)) all.push(...ofMessage(message));
  return all;
}

function ofMessage(message: JsonObject): Piece[] {
  const role = asString(message.role) ?? "";
  if (typeof message.content === "string" && saysNoMore(message)) return [opens(role), text(role, message.content)];
  const before = [asString(message.name) ?? "", reasoningIn(message)].filter((one) => one !== "");
  return [
    opens(role),
    ...before.map((one) => text(role, one)),
    ...ofContent(role, message.content),
    ...(typeof message.refusal === "string" ? [text(role, message.refusal)] : []),
    ...asArray(message.tool_calls).flatMap((call) => ofCall(asObject(call)?.function ?? asObject(call)?.custom)),
    ...ofCall(message.function_call),
  ];
}

/** Of nearly every message there is nothing but its role and content. */
function saysNoMore(message: JsonObject): boolean {
  for (const field in message) if (field !== "role" && field !== "content") return false;
  return true;
}

function ofContent(role: string, content: Json | undefined): Piece[] {
  if (typeof content === "string") return [text(role, content)];
  return asArray(content)
    .filter(isObject)
    .flatMap((part) => ofPart(role, part));
}

function ofPart(role: string, part: JsonObject): Piece[] {
  switch (part.type) {
    case "image_url": {
      const image = asObject(part.image_url);
      const detail = image?.detail === "low" || image?.detail === "high" ? image.detail : "auto";
      return [{ kind: "image", url: asString(image?.url) ?? asString(part.image_url) ?? "", detail }];
    }
    case "input_audio": {
      const audio = asObject(part.input_audio);
      return [{ kind: "audio", base64: asString(audio?.data) ?? "", format: asString(audio?.format) ?? "" }];
    }
    case "file":
      return [file(asString(asObject(part.file)?.file_data) ?? "")];
    case "refusal":
      return [text(role, asString(part.refusal) ?? "")];
    case "thinking":
      return ofContent(role, part.thinking);
    default:
      return typeof part.text === "string" ? [text(role, part.text)] : [];
  }
}

function ofCall(value: Json | undefined): Piece[] {
  const call = asObject(value);
  if (call === undefined) return [];
  const said = call.arguments ?? call.input;
  const args = asString(said) ?? JSON.stringify(said ?? "");
  return [{ kind: "tool_call", name: asString(call.name) ?? "", args }];
}
