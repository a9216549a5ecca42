import type { Ask } from "../../core/ask.ts";
import { asArray, asObject, asString, type Json, type JsonObject } from "../../core/json.ts";
import type { Query } from "../dialect.ts";

/** The server's own counters, below `/v1`. Newer builds only: an older one answers 404 and renders and tokenizes instead. */
const COUNTERS = {
  chat: "/chat/completions/input_tokens",
  responses: "/responses/input_tokens",
  messages: "/messages/count_tokens",
} as const;

/**
 * Tokens of the prompt of `body`, exactly as the server will count them (measured: equal to `prompt_tokens` with tools, history,
 * schema and prefill). Null where it cannot be asked: an old build knows no way for Responses and Messages.
 */
export async function count(query: Query, ask: Ask, body: JsonObject): Promise<number | null> {
  if (ask.wire === "completions") return countPrompts(query, body);
  const counted = await query("POST", "v1", COUNTERS[ask.wire], body);
  const told = asObject(counted?.json)?.input_tokens;
  if (typeof told === "number") return told;
  if (ask.wire !== "chat") return null;
  const prompt = await template(query, body);
  return prompt === null ? null : tokenize(query, body, prompt);
}

/**
 * The prompt up to where the assistant's visible text begins. A template may open a thought for the model
 * (DeepSeek R1, Qwen3 thinking): it is closed, for what follows is text.
 */
export async function render(query: Query, body: JsonObject): Promise<string | null> {
  const prompt = await template(query, body);
  return prompt === null ? null : prompt.replace(/<think>\s*$/, "<think>\n\n</think>\n\n");
}

async function template(query: Query, body: JsonObject): Promise<string | null> {
  const answer = await query("POST", "root", "/apply-template", body);
  return asString(asObject(answer?.json)?.prompt) ?? null;
}

/** Each prompt of a list is a request of its own: the longest is what must fit. */
async function countPrompts(query: Query, body: JsonObject): Promise<number | null> {
  const counts = await Promise.all(promptsOf(body.prompt).map((prompt) => countPrompt(query, body, prompt)));
  return counts.reduce<number | null>(
    (most, each) => (most === null || each === null ? null : Math.max(most, each)),
    0,
  );
}

function promptsOf(prompt: Json | undefined): Json[] {
  const list = asArray(prompt);
  return list.length === 0 || typeof list[0] === "number" ? [prompt ?? ""] : list;
}

async function countPrompt(query: Query, body: JsonObject, prompt: Json): Promise<number | null> {
  return typeof prompt === "string" ? tokenize(query, body, prompt) : asArray(prompt).length;
}

/** `add_special`: the server adds its own first token to prompts too, where the model has one. A router needs the model. */
async function tokenize(query: Query, body: JsonObject, content: string): Promise<number | null> {
  const answer = await query("POST", "root", "/tokenize", {
    ...(body.model === undefined ? {} : { model: body.model }),
    content,
    add_special: true,
    parse_special: true,
  });
  const list = asObject(answer?.json)?.tokens;
  return Array.isArray(list) ? list.length : null;
}
