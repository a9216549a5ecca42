import type { JsonObject } from "./json.ts";

export type WireName = "chat" | "completions" | "responses" | "messages";

/** An output cap as the client wrote it. */
export interface Cap {
  /** The client's own field, for example `max_tokens`. */
  readonly field: string;
  /** Tokens, at least 1 (0 only on completions). */
  readonly tokens: number;
}

/** The format a reply must have. */
export type Structured = { readonly kind: "json_object" } | { readonly kind: "json_schema"; readonly schema: unknown };

export interface ToolSpec {
  readonly name: string;
  /** The JSON schema of its arguments, as the client sent it; undefined where it gave none. */
  readonly schema: unknown;
  /** Its arguments are plain text, not JSON (`type: custom`). @default false */
  readonly freeform?: boolean;
}

/**
 * One thing in a request that costs prompt tokens. A wire lists them in prompt order; the counter knows nothing of wires.
 * `text` is exactly what the model would be shown of it; a picture or a sound carries its source instead.
 */
export type Piece =
  | { readonly kind: "text"; readonly role: string; readonly text: string; readonly opens: boolean }
  /** A prompt that the client tokenised itself. */
  | { readonly kind: "tokens"; readonly count: number }
  | { readonly kind: "image"; readonly url: string; readonly detail: "low" | "high" | "auto" }
  | { readonly kind: "audio"; readonly base64: string; readonly format: string }
  | { readonly kind: "file"; readonly base64: string; readonly mime: string }
  | { readonly kind: "tool_definition"; readonly json: string }
  | { readonly kind: "tool_call"; readonly name: string; readonly args: string }
  | { readonly kind: "schema"; readonly json: string };

/** What a client asked for. `body` is the client's own object and is never changed: every request is a patched copy. */
export interface Ask {
  readonly wire: WireName;
  readonly body: JsonObject;
  /** "" where the client named none. */
  readonly model: string;
  readonly stream: boolean;
  readonly cap: Cap | null;
  /** The body may go on as it came. false: it says one thing twice (two cap fields), of which one is to be sent. */
  readonly verbatim: boolean;
  /** The client wrote -1, no cap; whether the server knows that is for the caller to judge. `cap` is null then. */
  readonly unlimited: boolean;
  /** Tokens of thinking that the client allows within the cap (Anthropic's `thinking.budget_tokens`); null where unset. */
  readonly thinkingBudget: number | null;
  readonly stop: readonly string[];
  readonly tools: readonly ToolSpec[];
  readonly structured: Structured | null;
  /** The client asked for usage in the stream, or the wire always has it. */
  readonly wantsUsage: boolean;
  readonly logprobs: boolean;
  /** Number of choices. */
  readonly n: number;
  /** Why this ask can never be healed (`n` above 1, `suffix`, `background`, ...), or null. */
  readonly unhealable: string | null;
}
