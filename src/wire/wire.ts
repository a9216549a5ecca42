import type { Ask, Piece, WireName } from "../core/ask.ts";
import type { Attempt, Cause, Outcome, Warning } from "../core/cut.ts";
import type { Failure } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";
import type { Finish, Part, Usage } from "../core/part.ts";
import type { Reply } from "../core/reply.ts";

/**
 * One event of an upstream's stream.
 * - `quiet`: no output yet (role chunk, `response.created`, ping); never decides a status
 * - `output`: text, reasoning or a tool call; flows on at once
 * - `tail`: true only if the reply ends here (finish, usage, `*.done`, `content_block_stop`, the terminal event).
 *   Held until more output proves that it was not the end, or until the end.
 */
export interface Frame {
  readonly kind: "quiet" | "output" | "tail";
  /** SSE event name, "" where the event had none. */
  readonly event: string;
  /** The `data` payload as it came, and parsed (null for `[DONE]` and for what is not JSON). */
  readonly data: string;
  readonly json: JsonObject | null;
  readonly parts: readonly Part[];
  /** Carries usage and nothing else: dropped where only lastword asked for it. */
  readonly usageOnly: boolean;
  /** Not an event of this wire (keep-alive text, half a JSON): quiet, and never forwarded. */
  readonly garbage: boolean;
}

/** How the request of one attempt differs from what the client sent. The untouched first ask is always the start. */
export interface Compose {
  /** The output cap to send, in this field; null: the client's cap fields stay as they are. */
  readonly cap: { readonly field: string; readonly tokens: number } | null;
  /** Thinking budget within the cap, where the wire has one and it must change; null: as asked. */
  readonly thinkingBudget: number | null;
  /**
   * - `asked`: the client's own messages
   * - `resume`: the partial reply as the last assistant message, to be gone on with (appended to the client's own prefill, if any)
   * - `nudge`: the partial reply as an assistant turn, then `nudge` as a user turn
   * - `hint`: the client's own messages, with `nudge` behind the last turn of the user's
   */
  readonly how: "asked" | "resume" | "nudge" | "hint";
  readonly partial: { readonly text: string; readonly reasoning: string } | null;
  readonly nudge: string;
  /** Fields of the resumed message itself, for example `{prefix: true}`. */
  readonly mark: JsonObject;
  /** Top-level fields to set, one level deep: object values are merged into the client's (`stream_options`, `chat_template_kwargs`). */
  readonly set: JsonObject;
  /** Top-level fields to leave out. */
  readonly without: readonly string[];
}

/** The `lastword` object of the contract. Never content. */
export interface Report {
  readonly outcome: Outcome;
  readonly cause: Cause | null;
  readonly code: string | null;
  readonly warnings: readonly Warning[];
  /** Only with `x-lastword-explain: 1`. */
  readonly full: {
    readonly attempts: readonly Attempt[];
    readonly window: number | null;
    readonly window_source: string;
    readonly prompt_tokens_estimated: number | null;
    readonly billed: { readonly prompt_tokens: number; readonly completion_tokens: number };
  } | null;
}

/** How a reply to a client ends. */
export interface Ending {
  /** What the client is told; `raw` in the wire's own word. */
  readonly finish: Finish;
  /** Everything delivered over all passes, joined; the reply of a plain body is made from it. */
  readonly reply: Reply;
  /** Joined usage; null where the upstream told none. */
  readonly usage: Usage | null;
  /** The held tail frames of the last pass, for their unknown fields; empty where it spoke another wire. */
  readonly tail: readonly Frame[];
  readonly report: Report | null;
  /** The plain bodies of the later passes, for what parts do not carry (logprobs). */
  readonly later?: readonly JsonObject[];
}

/**
 * The one voice in which a client hears one reply that several passes made: one id, one role, one finish, one usage.
 * Pass 1 is forwarded as it came; a voice is needed only once something must be written.
 */
export interface Voice {
  /**
   * Events without which clients cannot make sense of these, the first that go out ("": they are all there).
   * @param loses the server is known to leave them out where its first token is half a character (llama-server)
   */
  opening(frames: readonly Frame[], loses: boolean): string;
  /** A frame of pass 1 that went to the client as it came: remembers ids, numbers, open blocks. */
  passed(frame: Frame): void;
  /** What the upstream calls a reply of which nothing has gone out yet: an event that opens it, or a plain body in a stream's place. */
  named(json: JsonObject): void;
  /**
   * Whole SSE events for new output of a later pass. `frame` is the upstream's own, or null where it spoke another wire.
   * A frame without parts is output that no part has (server tools, citations): it goes on in its place.
   */
  say(parts: readonly Part[], frame: Frame | null): string;
  /** The ending: closes what is open, finish, usage if the client asked for it, terminal event. */
  finish(ending: Ending): string;
  /** One in-stream error and the wire's terminal event, no finish. */
  fail(failure: Failure): string;
  /** The untouched tail of pass 1 as it came, but with a `lastword` object on its finish. */
  annotate(tail: readonly Frame[], report: Report): string;
  /** A plain reply: the first pass's body with everything joined. `first` null: the upstream streamed although not asked to. */
  body(first: JsonObject | null, ending: Ending): JsonObject;
  /**
   * Some of the reply's text has log probabilities and some has none: in what was said, or in the body that is made from these.
   * Absent on wires that do not look.
   */
  lacksLogprobs?(body: ({ readonly first: JsonObject | null } & Pick<Ending, "reply" | "later">) | null): boolean;
  /** A plain body as a short stream, for an upstream that did not stream although asked to. */
  stream(body: JsonObject): string;
}

/** A conversation as a list that can be shortened. */
export interface History {
  /** Its messages in order. `alone`: a body that holds just this one, for counting it. */
  messages(body: JsonObject): { readonly role: "system" | "user" | "assistant" | "tool"; readonly alone: JsonObject }[];
  /** A copy of the body with the kept messages only; of the shortened ones, tool results, the content is replaced by `notice`. */
  shorten(
    body: JsonObject,
    compaction: { readonly kept: readonly number[]; readonly shortened: readonly number[] },
    notice: string,
  ): JsonObject;
}

/** What clients speak. A wire knows nothing of servers. */
export interface Wire {
  readonly name: WireName;
  /** Below `/v1`, for example `/chat/completions`. */
  readonly path: string;
  /** Where a cap is written that the client did not ask for. */
  readonly capField: string;
  /** Where the client says what format the reply must have; left out of continuations, whose grammar would start anew. */
  readonly formatField: string;
  /** @throws Refused `invalid_request`, naming the field */
  read(body: JsonObject): Ask;
  /** What of the request costs prompt tokens, in prompt order. */
  pieces(body: JsonObject): Piece[];
  /** Absent on wires without a conversation. */
  readonly history?: History;
  /**
   * Matches, in latin1 text of whole events, anything that is more than plain output: then the events are parsed one by one.
   * False alarms cost time only; a miss would be a defect. null: every event is parsed.
   */
  readonly alarm: RegExp | null;
  frame(event: string, data: string): Frame;
  /**
   * A reader of one stream, for wires whose events lean on earlier ones: a block's kind is told only where it begins, its number
   * only by its item's id. Every event of the stream goes through it, in order. Absent: `frame` says it all.
   */
  frames?(): (event: string, data: string) => Frame;
  /**
   * An `output` frame that also holds a finish or a fault, as two: what flows on at once, and the tail to hold. Any other frame alone.
   * Absent on wires whose events never hold both.
   */
  split?(frame: Frame): readonly Frame[];
  /** What a plain body says. */
  parts(body: JsonObject): Part[];
  compose(ask: Ask, compose: Compose): JsonObject;
  /** `id`: what the reply is called where no upstream gave it a name. */
  voice(ask: Ask, id?: string): Voice;
  /** An error in the wire's shape. */
  error(failure: Failure): JsonObject;
  /** A heartbeat event, only between events. */
  heartbeat(form: "comment" | "empty-delta"): string;
}
