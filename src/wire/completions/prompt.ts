import { asArray, type Json } from "../../core/json.ts";

/**
 * A prompt in one of its four forms: a string, a list of strings, token ids, a list of lists of token ids.
 * Null: none of them. An absent prompt is empty.
 */
export type Prompt =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tokens"; readonly count: number }
  | { readonly kind: "several"; readonly prompts: readonly Prompt[] };

export function readPrompt(value: Json | undefined): Prompt | null {
  if (value === undefined || value === null) return { kind: "text", text: "" };
  if (typeof value === "string") return { kind: "text", text: value };
  if (!Array.isArray(value)) return null;
  if (value.every((one) => typeof one === "number")) return { kind: "tokens", count: value.length };
  const prompts = value.map((one) => (typeof one === "number" ? null : readPrompt(one)));
  if (prompts.some((one) => one === null || one.kind === "several")) return null;
  const all = prompts.filter((one) => one !== null);
  return all.length === 1 && all[0] ? all[0] : { kind: "several", prompts: all };
}

/** The prompt with more text behind it, in the form in which the client gave it. */
export function extended(value: Json | undefined, text: string): Json {
  if (Array.isArray(value)) return [extended(asArray(value)[0], text)];
  return (typeof value === "string" ? value : "") + text;
}
