import type { JsonObject } from "./json.ts";

/** Tokens as the upstream reported them. `prompt` includes cached tokens. */
export interface Usage {
  readonly prompt: number | null;
  readonly completion: number | null;
  /** Of `completion`, those spent on reasoning; null where not told. */
  readonly reasoning: number | null;
  /** The upstream's own object, for detail fields. */
  readonly raw: JsonObject;
}

/**
 * Finish reasons in one vocabulary.
 * - `done`: ended by itself, or at a stop string
 * - `cap`: an output cap; `window`: the window is full, by the server's own word
 * - `tools`: ended to have tools called
 * - `filter`: content filter or refusal; `pause`: the wire's own protocol for going on
 * - `error`: the upstream failed and says so in place of a reason
 * - `other`: a word we do not know; treated as an end
 */
export type FinishKind = "done" | "cap" | "window" | "tools" | "filter" | "pause" | "error" | "other";

export interface Finish {
  readonly kind: FinishKind;
  /** The upstream's word. */
  readonly raw: string;
}

/** An error of the upstream, in whatever shape and place it came. Its text may quote a prompt: never log it. */
export interface Fault {
  /** HTTP status; the status named inside an in-stream error; or 200 where none is named. */
  readonly status: number;
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  /** The body or event as it came, parsed where it was JSON. */
  readonly body: unknown;
}

/** What one event of a reply says, whatever the wire. One event may say several things, in order. */
export type Part =
  /** Visible text. `block` tells apart content blocks or output items where the wire has them (else 0). */
  | { readonly kind: "text"; readonly block: number; readonly text: string }
  | { readonly kind: "reasoning"; readonly block: number; readonly text: string }
  /** Reasoning that must not be edited or resumed (signed, encrypted, summarised). */
  | {
      readonly kind: "sealed_reasoning";
      readonly block: number;
      /** The event holds all of it, so that it can stand by itself. @default false */
      readonly whole?: true;
    }
  /** A piece of a tool call. `id` and `name` are "" where the piece has none. */
  | { readonly kind: "tool"; readonly block: number; readonly id: string; readonly name: string; readonly args: string }
  /** The wire itself says that a call's arguments have ended (Messages, Responses). */
  | { readonly kind: "tool_end"; readonly block: number }
  | { readonly kind: "finish"; readonly choice: number; readonly finish: Finish }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "fault"; readonly fault: Fault }
  /** The wire's terminal event. */
  | { readonly kind: "end" };
