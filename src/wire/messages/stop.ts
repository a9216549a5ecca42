import type { Finish, FinishKind } from "../../core/part.ts";

/**
 * Stop reasons. Those of Anthropic first, then words that servers and adapters let through, in lower case.
 * A word that is not here is `other`: an end. To add one: the word, its kind, and who says it.
 */
const KINDS: Readonly<Record<string, FinishKind>> = {
  end_turn: "done",
  stop_sequence: "done",
  max_tokens: "cap",
  model_context_window_exceeded: "window",
  tool_use: "tools",
  pause_turn: "pause",
  refusal: "filter",
  stop: "done", // the words of chat, behind adapters
  length: "cap",
  tool_calls: "tools",
  content_filter: "filter",
  model_length: "window", // Mistral, behind adapters
};

/** The wire's own word for each kind. */
const WORDS = {
  done: "end_turn",
  cap: "max_tokens",
  window: "model_context_window_exceeded",
  tools: "tool_use",
  filter: "refusal",
  pause: "pause_turn",
} as const;

const OWN: ReadonlySet<string> = new Set([...Object.values(WORDS), "stop_sequence"]);

export function finishOf(raw: string): Finish {
  const key = raw.toLowerCase();
  return { kind: Object.hasOwn(KINDS, key) ? (KINDS[key] ?? "other") : "other", raw };
}

/** A finish in this wire's words; one that it does not know is passed on as it is. */
export function wordOf(finish: Finish): string {
  if (OWN.has(finish.raw) || finish.kind === "other" || finish.kind === "error") return finish.raw;
  return WORDS[finish.kind];
}
