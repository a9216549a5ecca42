import { asArray, asNumber, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Fault } from "../../core/part.ts";

/**
 * The error that an event or body holds, or null. It may stand at the top, in the first choice, beside its own message
 * (LM Studio), as a bare string (LM Studio, Ollama), flat (`object: "error"`, older vLLM), or be named by the event alone.
 */
export function faultOf(event: string, data: Json): Fault | null {
  const json = asObject(data) ?? asObject(asArray(data)[0]);
  const error = [json?.error, asObject(asArray(json?.choices)[0])?.error].find(isError);
  if (error) return read(isObject(error) ? error : { message: asString(error) ?? asString(json?.message) }, data);
  if (json?.object === "error" && typeof json.message === "string") return read(json, data);
  if (event === "error") return read(json ?? { message: asString(data) }, data);
  return null;
}

/** Truthy, but for PHP's empty array. */
function isError(value: Json | undefined): boolean {
  return Boolean(value) && !(Array.isArray(value) && value.length === 0);
}

function read(error: JsonObject, body: unknown): Fault {
  const metadata = asObject(error.metadata);
  const code = asNumber(error.code) ?? asString(error.code);
  return {
    status: httpStatus(error.status) ?? httpStatus(error.code) ?? 200,
    message: asString(error.message) ?? "",
    type: asString(error.type) ?? asString(metadata?.error_type) ?? null,
    code: code === undefined ? null : String(code),
    body,
  };
}

function httpStatus(value: unknown): number | undefined {
  const status = asNumber(value);
  return status !== undefined && status >= 400 && status <= 599 ? status : undefined;
}
