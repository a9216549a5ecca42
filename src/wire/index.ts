import type { Failure } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";
import { chat } from "./chat/chat.ts";
import { completions } from "./completions/completions.ts";
import { messages } from "./messages/messages.ts";
import { errorObject } from "./openai/error.ts";
import { responses } from "./responses/responses.ts";
import type { Wire } from "./wire.ts";

/** Every wire that is served in full. To add one: its folder, and its name here. */
export const wires: readonly Wire[] = [chat, completions, responses, messages];

/** The shape of errors on every path that belongs to no wire. */
export const openAiShape = { error: errorObject };

/** The shape of errors at a path that is no full wire's: below Messages it is that wire's own. */
export function shapeAt(path: string): { error(failure: Failure): JsonObject } {
  return /^(?:\/v1)?\/messages\//.test(path) ? messages : openAiShape;
}

const byPath = new Map(wires.flatMap((wire) => [`/v1${wire.path}`, wire.path].map((path) => [path, wire] as const)));

/** The wire that is served at a path, with or without `/v1` and a slash at the end; null for every other path. */
export function wireAt(path: string): Wire | null {
  return byPath.get(path) ?? byPath.get(path.replace(/\/$/, "")) ?? null;
}
