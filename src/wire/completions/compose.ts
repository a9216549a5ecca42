import type { Ask } from "../../core/ask.ts";
import { asArray, type Json, type JsonObject } from "../../core/json.ts";
import { patched } from "../openai/patch.ts";
import type { Compose } from "../wire.ts";
import { extended } from "./prompt.ts";

/** A completion has no turns: to go on is to put the partial reply behind the prompt, whether resumed or nudged. */
export function compose(ask: Ask, how: Compose): JsonObject {
  const body = patched(ask, how);
  const text = how.partial?.text ?? "";
  if (how.how === "asked" || how.how === "hint" || text === "") return body;
  const prompt = ask.body.prompt;
  if (ask.body.echo !== true) return { ...body, prompt: extended(prompt, text) };
  // The reply that was cut began with the prompt, and the client is to hear it once.
  const echoed = wordsOf(prompt);
  const own = text.startsWith(echoed) ? text.slice(echoed.length) : text;
  return { ...body, prompt: extended(prompt, own), echo: false };
}

function wordsOf(prompt: Json | undefined): string {
  const only = Array.isArray(prompt) ? asArray(prompt)[0] : prompt;
  return typeof only === "string" ? only : "";
}
