import { asObject, asString, type JsonObject, parseJson } from "../core/json.ts";
import type { Fault, Part } from "../core/part.ts";
import { faultOf } from "./openai/fault.ts";
import type { Frame } from "./wire.ts";

/** What an event says, and how it is treated. */
export interface Said {
  readonly kind: Frame["kind"];
  readonly parts: readonly Part[];
}

export const QUIET: Said = { kind: "quiet", parts: [] };
export const TAIL: Said = { kind: "tail", parts: [] };

export function output(...parts: Part[]): Said {
  return { kind: "output", parts };
}

/**
 * Reads one event of the wires whose events bear the name of their type (Responses, Messages).
 * An error may come in any of its shapes under any name. `[DONE]` (OpenRouter) ends nothing here, but belongs to the end.
 */
export function readNamed(event: string, data: string, said: (type: string, json: JsonObject) => Said): Frame {
  const parsed = parseJson(data);
  const json = asObject(parsed) ?? null;
  const frame = ({ kind, parts }: Said): Frame => {
    return { kind, event, data, json, parts, usageOnly: false, garbage: false };
  };
  const type = asString(json?.type) ?? event;
  const fault = faultOf(type, parsed ?? data);
  if (fault !== null) return frame({ kind: "tail", parts: [{ kind: "fault", fault: withStatus(fault) }] });
  if (data.trim() === "[DONE]") return frame(TAIL);
  if (json === null) return { ...frame(QUIET), garbage: true };
  return frame(said(type, json));
}

/**
 * Words that name a status where no number does.
 * Anthropic: https://docs.anthropic.com/en/api/errors; OpenAI: `ResponseError.code`. To add one: the word and its status.
 */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
  context_length_exceeded: 400,
  invalid_prompt: 400,
  rate_limit_exceeded: 429,
  server_error: 500,
};

/** A fault with the status that its type or code stands for, where it names none itself. */
export function withStatus(fault: Fault): Fault {
  // OpenAI's `error` event is flat: its `type` is that of the event.
  const type = fault.type === "error" ? null : fault.type;
  const named = [type, fault.code].find((word) => word !== null && Object.hasOwn(STATUSES, word));
  const status = fault.status === 200 && named ? (STATUSES[named] ?? 200) : fault.status;
  return { ...fault, type, status };
}
