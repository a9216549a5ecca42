import type { Ask } from "../../core/ask.ts";
import { asArray, asObject, type Json, type JsonObject } from "../../core/json.ts";
import { patched } from "../openai/patch.ts";
import type { Compose } from "../wire.ts";
import { FORMAT_FIELD } from "./read.ts";

/** The client's request with the input of one attempt. */
export function compose(ask: Ask, how: Compose): JsonObject {
  const without = how.without.filter((field) => field !== FORMAT_FIELD);
  const body = patched(ask, { ...how, without });
  if (without.length < how.without.length) dropFormat(body);
  const { text, reasoning } = how.partial ?? { text: "", reasoning: "" };
  switch (how.how) {
    case "asked":
      break;
    case "resume":
      if (text !== "" || reasoning !== "") body.input = resumed(itemsOf(ask.body.input), text, reasoning, how.mark);
      break;
    case "nudge":
      if (text !== "") body.input = nudged(itemsOf(ask.body.input), text, how.nudge);
      break;
    case "hint":
      body.input = [...itemsOf(ask.body.input), message("user", how.nudge)];
      break;
    default:
      how.how satisfies never;
  }
  return body;
}

/** Only the format goes: the same field holds the verbosity. */
function dropFormat(body: JsonObject): void {
  const { format, ...rest } = asObject(body[FORMAT_FIELD]) ?? {};
  delete body[FORMAT_FIELD];
  if (Object.keys(rest).length > 0) body[FORMAT_FIELD] = rest;
}

function itemsOf(input: Json | undefined): Json[] {
  return typeof input === "string" ? [message("user", input)] : asArray(input);
}

function nudged(items: readonly Json[], text: string, nudge: string): Json[] {
  const { before, prefill } = split(items);
  const spoken = prefill === null ? message("assistant", text) : { ...prefill, ...appended(prefill.content, text) };
  return [...before, spoken, message("user", nudge)];
}

/**
 * The partial reply as the last items, in the shape in which servers give and validate their own: the thought, then the message,
 * which is the client's own prefill if it sent one. The last of them bears the mark.
 */
function resumed(items: readonly Json[], text: string, reasoning: string, mark: JsonObject): Json[] {
  const { before, prefill } = split(items);
  const content = [{ type: "reasoning_text", text: reasoning }];
  const thought = { type: "reasoning", id: "rs_lastword", summary: [], content };
  if (text === "" && prefill === null) return [...before, { ...thought, ...mark }];
  const fresh = { type: "message", id: "msg_lastword", role: "assistant", status: "in_progress", content: [] };
  const spoken = { ...(prefill ?? fresh), ...appended(prefill?.content, text), ...mark };
  return reasoning === "" ? [...before, spoken] : [...before, thought, spoken];
}

/** The client's own prefill, apart. */
function split(items: readonly Json[]): { readonly before: readonly Json[]; readonly prefill: JsonObject | null } {
  const last = asObject(items.at(-1));
  const own = last !== undefined && (last.type ?? "message") === "message" && last.role === "assistant";
  return own ? { before: items.slice(0, -1), prefill: last } : { before: items, prefill: null };
}

/** In the last part, not beside it: servers set blank lines between parts. */
function appended(content: Json | undefined, text: string): { content: Json } {
  if (typeof content === "string") return { content: content + text };
  const parts = asArray(content);
  const last = asObject(parts.at(-1));
  if (typeof last?.text === "string") return { content: [...parts.slice(0, -1), { ...last, text: last.text + text }] };
  return { content: text === "" ? parts : [...parts, { type: "output_text", text, annotations: [] }] };
}

/** llama-server knows an item by its `type` alone. */
function message(role: string, content: string): JsonObject {
  return { type: "message", role, content };
}
