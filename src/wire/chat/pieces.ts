import type { Piece } from "../../core/ask.ts";
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
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

/** The first piece of a message opens it, so that each message's own cost is counted once. */
function ofMessage(message: JsonObject): Piece[] {
  const role = asString(message.role) ?? "";
  const text = (text: string, opens = false): Piece => ({ kind: "text", role, text, opens });
  const all: Piece[] = [text(asString(message.name) ?? "", true)];
  const reasoning = reasoningIn(message);
  if (reasoning !== "") all.push(text(reasoning));
  all.push(...ofContent(message.content, text));
  if (typeof message.refusal === "string") all.push(text(message.refusal));
  for (const call of asArray(message.tool_calls)) all.push(...ofCall(asObject(call)?.function));
  all.push(...ofCall(message.function_call));
  return all;
}

function ofContent(content: Json | undefined, text: (text: string) => Piece): Piece[] {
  if (typeof content === "string") return [text(content)];
  return asArray(content)
    .filter(isObject)
    .flatMap((part) => ofPart(part, text));
}

function ofPart(part: JsonObject, text: (text: string) => Piece): Piece[] {
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
      return [ofFile(asString(asObject(part.file)?.file_data) ?? "")];
    case "refusal":
      return [text(asString(part.refusal) ?? "")];
    case "thinking":
      return ofContent(part.thinking, text);
    default:
      return typeof part.text === "string" ? [text(part.text)] : [];
  }
}

/** `data:application/pdf;base64,...`, or base64 alone. A file that is only named by its id costs what nobody here can know. */
function ofFile(data: string): Piece {
  const comma = data.indexOf(",");
  if (!data.startsWith("data:") || comma < 0) return { kind: "file", base64: data, mime: "" };
  const mime = data.slice("data:".length, comma).split(";")[0] ?? "";
  return { kind: "file", base64: data.slice(comma + 1), mime };
}

function ofCall(value: Json | undefined): Piece[] {
  const call = asObject(value);
  if (call === undefined) return [];
  const args = asString(call.arguments) ?? JSON.stringify(call.arguments ?? "");
  return [{ kind: "tool_call", name: asString(call.name) ?? "", args }];
}
