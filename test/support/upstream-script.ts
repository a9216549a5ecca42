import type { JsonObject } from "../../src/core/json.ts";

/**
 * What a scripted server does in one call, act by act. A script knows nothing of wires and dialects: the same one is played as
 * chat chunks, completion chunks, Responses or Messages events, streamed or as one plain body, as the request asks.
 */
export type Script = readonly Act[];

export type Act =
  | { readonly act: "say"; readonly text: string; readonly choice: number }
  | { readonly act: "think"; readonly text: string }
  | {
      readonly act: "tool";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly args: string;
    }
  | { readonly act: "role" }
  | {
      readonly act: "finish";
      readonly reason: string;
      readonly text: string;
      readonly native: string | null;
      readonly choice: number;
    }
  | { readonly act: "usage"; readonly usage: Tokens; readonly force: boolean }
  | { readonly act: "done" }
  | { readonly act: "event"; readonly name: string; readonly data: string | JsonObject }
  | { readonly act: "fault"; readonly name: string; readonly json: JsonObject }
  | { readonly act: "raw"; readonly bytes: Buffer }
  | {
      readonly act: "status";
      readonly status: number;
      readonly body: string | unknown;
      readonly headers: Record<string, string>;
    }
  | { readonly act: "headers" }
  | { readonly act: "wait"; readonly ms: number }
  | { readonly act: "pause"; readonly gate: string }
  | { readonly act: "stall" }
  | { readonly act: "reset"; readonly how: "reset" | "close" }
  | { readonly act: "eof" }
  | { readonly act: "over"; readonly transport: Transport };

export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
  readonly reasoning?: number;
  readonly cached?: number;
}

/** How the bytes travel. Without any of it: one write per event, LF, chunked, as they come. */
export interface Transport {
  /** Cut the body after these byte offsets, every n bytes, or at random (seeded) in pieces of at most `max` (default 7) bytes. */
  readonly split?: { readonly at: readonly number[] } | { readonly every: number } | { seed: number; max?: number };
  readonly newline?: "\n" | "\r\n" | "\r";
  /** Events per write. Control acts (wait, pause, reset, ...) flush what is held. */
  readonly batch?: number;
  readonly encoding?: "gzip" | "br";
  /** Milliseconds between writes. @default 0 */
  readonly gap?: number;
  /** Status of a reply that otherwise succeeds. @default 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Streams although not asked to, or answers plainly although asked to stream. */
  readonly mode?: "stream" | "plain";
}

/** Visible text. */
export const say = (text: string, choice = 0): Act => ({ act: "say", text, choice });
/** Reasoning, in the dialect's own field. */
export const think = (text: string): Act => ({ act: "think", text });
/** A piece of a tool call; `id` and `name` on its first piece only. */
export const tool = (index: number, head: { id?: string; name?: string }, args = ""): Act => ({
  act: "tool",
  index,
  id: head.id ?? "",
  name: head.name ?? "",
  args,
});
/** What comes before any output: role chunk, `response.created`, `message_start`. Comes by itself before the first output. */
export const role = (): Act => ({ act: "role" });
/**
 * The finish, in chat's words (`stop` `length` `tool_calls` `content_filter`); the other wires translate them. Other words go out as they are.
 * `text`: content in the very chunk of the finish.
 */
export const finish = (reason: string, more: { text?: string; native?: string; choice?: number } = {}): Act => ({
  act: "finish",
  reason,
  text: more.text ?? "",
  native: more.native ?? null,
  choice: more.choice ?? 0,
});
/** Usage. Streamed only where the request or the dialect wants it, or with `force`. */
export const usage = (
  prompt: number,
  completion: number,
  more: { reasoning?: number; cached?: number; force?: boolean } = {},
): Act => {
  const { force = false, ...details } = more;
  return { act: "usage", usage: { prompt, completion, ...details }, force };
};
/** The terminal event: `[DONE]`, `response.completed` and its like, `message_stop`. */
export const done = (): Act => ({ act: "done" });
/** Any event, as given. */
export const event = (data: string | JsonObject, name = ""): Act => ({ act: "event", name, data });
/** `event: error`; as a plain reply a 400 with that body. */
export const errorEvent = (json: JsonObject): Act => ({ act: "fault", name: "error", json });
/** `data: {"error": ...}` without an event name; as a plain reply a 500, or the status named by `error.code`. */
export const errorData = (json: JsonObject): Act => ({ act: "fault", name: "", json });
/** Bytes as they are, outside of every rule. */
export const raw = (bytes: string | Buffer): Act => ({ act: "raw", bytes: Buffer.from(bytes) });
/** An SSE comment. */
export const comment = (text: string): Act => raw(`: ${text}\n\n`);
/** Answers with this status and body instead of a reply; objects as JSON. Ends the script. */
export const status = (code: number, body: unknown, headers: Record<string, string> = {}): Act => ({
  act: "status",
  status: code,
  body,
  headers,
});
/** Sends the response's head now, before any of its body. */
export const headers = (): Act => ({ act: "headers" });
export const wait = (ms: number): Act => ({ act: "wait", ms });
/** Waits for `up.release(gate)`; `up.reached(gate)` tells that it waits. */
export const pause = (gate = ""): Act => ({ act: "pause", gate });
/** Nothing more, ever; the socket stays open. */
export const stall = (): Act => ({ act: "stall" });
/** Destroys the socket: the client reads what was sent, then ECONNRESET. As a plain reply: in the middle of its body. */
export const reset = (): Act => ({ act: "reset", how: "reset" });
/** Closes the socket without ending the body. */
export const drop = (): Act => ({ act: "reset", how: "close" });
/** Ends the body properly here. The end of a script does the same. */
export const eof = (): Act => ({ act: "eof" });
/** How the bytes of this call travel; anywhere in the script. */
export const over = (transport: Transport): Act => ({ act: "over", transport });

/** A whole reply: text in pieces, finish, usage, terminal event. */
export function reply(text: string | readonly string[], reason = "stop", tokens: Tokens | null = null): Script {
  const pieces = typeof text === "string" ? [text] : text;
  return [
    ...pieces.map((piece) => say(piece)),
    finish(reason),
    ...(tokens === null ? [] : [usage(tokens.prompt, tokens.completion, tokens)]),
    done(),
  ];
}
