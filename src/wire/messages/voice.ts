import type { Ask } from "../../core/ask.ts";
import type { Failure } from "../../core/error.ts";
import { asNumber, asObject, asString, isObject, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { lastwordOf } from "../report.ts";
import { eventOf, namedEvent } from "../sse.ts";
import type { Ending, Frame, Report, Voice } from "../wire.ts";
import { streamed } from "./blocks.ts";
import { joinedContent } from "./body.ts";
import { errorObject } from "./error.ts";
import { wordOf } from "./stop.ts";
import { usageObject } from "./usage.ts";

/** A content block that the client has been shown. */
interface Shown {
  readonly index: number;
  readonly type: string;
  open: boolean;
  /** Nothing has been added to it yet. */
  bare: boolean;
  /** Begun by a later pass, so that its signature signs all of it. */
  readonly ours: boolean;
}

type Output = Extract<Part, { block: number }>;

export class MessagesVoice implements Voice {
  readonly #ask: Ask;
  readonly #id: string;
  /** The message as `message_start` had it. */
  #message: JsonObject | null = null;
  /** `message_start` has gone out. */
  #begun = false;
  readonly #shown: Shown[] = [];
  /** Shown blocks by what the parts call them. */
  readonly #named = new Map<string, Shown>();
  /** Shown blocks that no part speaks of, by their number in the pass under way. */
  readonly #others = new Map<number, Shown>();

  constructor(ask: Ask, id: string) {
    this.#ask = ask;
    this.#id = id;
  }

  /** Whatever the server: without `message_start` clients hear nothing at all. */
  opening(frames: readonly Frame[]): string {
    return frames.some(({ json }) => json?.type === "message_start") ? "" : this.#begin();
  }

  passed(frame: Frame): void {
    const json = frame.json ?? {};
    this.#begun = true;
    if (json.type === "message_start") this.#message = asObject(json.message) ?? {};
    const index = asNumber(json.index);
    if (json.type === "content_block_start" && index !== undefined) {
      const type = asString(asObject(json.content_block)?.type) ?? "";
      this.#shown.push({ index, type, open: true, bare: true, ours: false });
    }
    const shown = this.#shown.find((one) => one.index === index);
    if (shown === undefined) return;
    if (json.type === "content_block_stop") shown.open = false;
    if (json.type === "content_block_delta" && frame.kind === "output") shown.bare = false;
    for (const part of frame.parts) if ("block" in part) this.#named.set(nameOf(part), shown);
  }

  named(json: JsonObject): void {
    const { id, type, role, model, usage } = asObject(json.message) ?? json;
    if (type !== "message") return;
    const own = Object.entries({ id, type, role, model, usage }).filter(([, value]) => value !== undefined);
    this.#message = { ...this.#blank(), ...Object.fromEntries(own) };
  }

  say(parts: readonly Part[], frame: Frame | null): string {
    if (parts.length === 0) return this.#other(frame?.json ?? {});
    return parts.map((part) => this.#say(part, frame?.json ?? {})).join("");
  }

  finish(ending: Ending): string {
    const own = ending.tail.findLast((frame) => frame.json?.type === "message_delta")?.json ?? {};
    const word = wordOf(ending.finish);
    const closing: JsonObject = {
      ...own,
      type: "message_delta",
      delta: {
        ...asObject(own.delta),
        stop_reason: word,
        stop_sequence: word === "stop_sequence" ? (asObject(own.delta)?.stop_sequence ?? null) : null,
      },
      usage: usageObject(ending.usage, asObject(own.usage) ?? {}, asObject(this.#message?.usage) ?? {}),
    };
    if (ending.report !== null) closing.lastword = lastwordOf(ending.report);
    return this.#begin() + this.#close() + namedEvent(closing) + namedEvent({ type: "message_stop" });
  }

  fail(failure: Failure): string {
    return namedEvent(errorObject(failure));
  }

  annotate(tail: readonly Frame[], report: Report): string {
    const finish = tail.findLast((frame) => frame.json?.type === "message_delta");
    const told = (frame: Frame) =>
      frame === finish ? namedEvent({ ...frame.json, lastword: lastwordOf(report) }) : eventOf(frame);
    return tail.map(told).join("");
  }

  body(first: JsonObject | null, ending: Ending): JsonObject {
    const own = first ?? this.#message ?? this.#blank();
    const usage = asObject(own.usage) ?? {};
    const word = wordOf(ending.finish);
    const bodies = [...(first === null ? [] : [first]), ...(ending.later ?? [])];
    const closing = ending.tail.findLast((frame) => frame.json?.type === "message_delta")?.json?.delta;
    const stop = (bodies.at(-1) ?? asObject(closing))?.stop_sequence ?? null;
    const body: JsonObject = {
      ...own,
      content: joinedContent(ending.reply.blocks, bodies),
      stop_reason: word,
      stop_sequence: word === "stop_sequence" ? stop : null,
      usage: usageObject(ending.usage, { ...ending.usage?.raw, ...usage }, usage),
    };
    if (ending.report !== null) body.lastword = lastwordOf(ending.report);
    return body;
  }

  stream(body: JsonObject): string {
    const { content, stop_reason, stop_sequence, usage, lastword, ...rest } = body;
    const blocks = Array.isArray(content) ? content.filter(isObject) : [];
    this.#message = { ...rest, content: [], stop_reason: null, stop_sequence: null, usage: usage ?? {} };
    let all = namedEvent({ type: "message_start", message: this.#message });
    blocks.forEach((block, index) => {
      const { start, deltas } = streamed(block);
      all += namedEvent({ type: "content_block_start", index, content_block: start });
      for (const delta of deltas) all += namedEvent({ type: "content_block_delta", index, delta });
      all += namedEvent({ type: "content_block_stop", index });
    });
    const closing: JsonObject = { type: "message_delta", delta: { stop_reason, stop_sequence }, usage: usage ?? {} };
    if (lastword !== undefined) closing.lastword = lastword;
    return all + namedEvent(closing) + namedEvent({ type: "message_stop" });
  }

  /** `own`: the upstream's event, whose unknown fields survive where it is of the same kind. */
  #say(part: Part, own: JsonObject): string {
    switch (part.kind) {
      case "text": {
        const delta = part.text === "" ? null : { type: "text_delta", text: part.text };
        return delta === null ? "" : this.#add(part, { type: "text", text: "" }, delta, own);
      }
      case "reasoning": {
        const delta = part.text === "" ? null : { type: "thinking_delta", thinking: part.text };
        return delta === null ? "" : this.#add(part, { type: "thinking", thinking: "", signature: "" }, delta, own);
      }
      case "tool": {
        const id = part.id === "" ? `toolu_${this.#message?.id ?? this.#id}_${this.#next()}` : part.id;
        const delta = part.args === "" ? null : { type: "input_json_delta", partial_json: part.args };
        return this.#add(part, { type: "tool_use", id, name: part.name, input: {} }, delta, own);
      }
      case "tool_end":
        return this.#stop(this.#named.get(nameOf(part)));
      case "sealed_reasoning":
        return this.#seal(part, own);
      case "finish":
      case "usage":
      case "fault":
      case "end":
        return "";
      default:
        return part satisfies never;
    }
  }

  #add(part: Output, start: JsonObject, delta: JsonObject | null, own: JsonObject): string {
    const { shown, events } = this.#at(part, start);
    if (delta === null) return events;
    shown.bare = false;
    const base = asObject(own.delta)?.type === delta.type ? own : {};
    const added = { ...asObject(base.delta), ...delta };
    return events + namedEvent({ ...base, type: "content_block_delta", index: shown.index, delta: added });
  }

  /** The block that a part goes on in, or a new one behind all others. */
  #at(part: Output, start: JsonObject): { readonly shown: Shown; readonly events: string } {
    const known = this.#named.get(nameOf(part));
    if (known?.open) return { shown: known, events: "" };
    const last = this.#shown.at(-1);
    if (last?.open && last.bare && last.type === start.type && last.type !== "tool_use") {
      this.#named.set(nameOf(part), last);
      return { shown: last, events: "" };
    }
    const opened = this.#open(start);
    this.#named.set(nameOf(part), opened.shown);
    return opened;
  }

  /** Begins a block behind all others. */
  #open(start: JsonObject): { readonly shown: Shown; readonly events: string } {
    const shown = { index: this.#next(), type: asString(start.type) ?? "", open: true, bare: true, ours: true };
    const closed = this.#begin() + this.#close();
    this.#shown.push(shown);
    const { index } = shown;
    return { shown, events: closed + namedEvent({ type: "content_block_start", index, content_block: start }) };
  }

  /** The upstream's own event, under the number that its block has here; a citation belongs to the text that is being said. */
  #other(own: JsonObject): string {
    const index = asNumber(own.index) ?? 0;
    if (own.type === "content_block_start") {
      const { shown, events } = this.#open(asObject(own.content_block) ?? {});
      this.#others.set(index, shown);
      return events;
    }
    if (own.type !== "content_block_delta") return "";
    const cites = asObject(own.delta)?.type === "citations_delta";
    const shown = cites ? this.#shown.findLast(({ type }) => type === "text") : this.#others.get(index);
    return shown?.open ? namedEvent({ ...own, index: shown.index }) : "";
  }

  /** A signature goes on only where it signs the whole of what was shown; a redacted thought is a block of its own. */
  #seal(part: Output, own: JsonObject): string {
    const content = asObject(own.content_block);
    if (content?.type === "redacted_thinking") return this.#at(part, content).events;
    const shown = this.#named.get(nameOf(part));
    if (asObject(own.delta)?.type !== "signature_delta" || !shown?.open || !shown.ours) return "";
    return namedEvent({ ...own, index: shown.index });
  }

  #next(): number {
    return (this.#shown.at(-1)?.index ?? -1) + 1;
  }

  #begin(): string {
    if (this.#begun) return "";
    this.#begun = true;
    this.#message ??= this.#blank();
    return namedEvent({ type: "message_start", message: this.#message });
  }

  /** Closes every open block. */
  #close(): string {
    return this.#shown.map((shown) => this.#stop(shown)).join("");
  }

  #stop(shown: Shown | undefined): string {
    if (!shown?.open) return "";
    shown.open = false;
    return namedEvent({ type: "content_block_stop", index: shown.index });
  }

  #blank(): JsonObject {
    return {
      id: this.#id,
      type: "message",
      role: "assistant",
      model: this.#ask.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    };
  }
}

/** Blocks of a reply are told apart by what they are and by their number. */
function nameOf(part: Output): string {
  const kinds = { text: "text", reasoning: "thought", sealed_reasoning: "thought", tool: "tool", tool_end: "tool" };
  return `${kinds[part.kind]}:${part.block}`;
}
