import type { Ask } from "../../core/ask.ts";
import type { Failure } from "../../core/error.ts";
import { asArray, asObject, asString, isObject, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { errorObject } from "../openai/error.ts";
import { lastwordOf } from "../report.ts";
import { eventOf } from "../sse.ts";
import { freeformNames } from "../tools.ts";
import type { Ending, Frame, Report, Voice } from "../wire.ts";
import { type Blank, blankItem, blankPart, type Naming } from "./blank.ts";
import { joinedOutput } from "./body.ts";
import { CALLS, CHANNELS, type ChannelName, isCall } from "./channels.ts";
import { argsOf, outputOf, spoken } from "./items.ts";
import { type ShownItem, type ShownPart, Stage, wholeItem } from "./stage.ts";
import { statusOf } from "./status.ts";
import { usageObject } from "./usage.ts";

const MESSAGE: Blank = { kind: "text", text: "", id: "", name: "" };
const REASONING: Blank = { ...MESSAGE, kind: "reasoning" };

type Tool = Extract<Part, { kind: "tool" }>;

export class ResponsesVoice implements Voice {
  readonly #ask: Ask;
  readonly #id: string;
  readonly #stage = new Stage();
  /** The response as the first pass began it. */
  #response: JsonObject | null = null;
  #begun = false;
  /** What was shown, by what the parts call it. */
  readonly #texts = new Map<string, ShownPart>();
  readonly #calls = new Map<number, ShownItem>();
  /** Items that no part speaks of, by what the pass under way calls them. */
  readonly #others = new Map<string, ShownItem>();

  constructor(ask: Ask, id: string) {
    this.#ask = ask;
    this.#id = id;
  }

  opening(frames: readonly Frame[], loses: boolean): string {
    const told = frames.some(({ json }) => json?.type === "response.created");
    return told || !loses ? "" : this.#begin();
  }

  passed(frame: Frame): void {
    if (frame.json === null) return;
    this.#begun = true;
    this.#response = asObject(frame.json.response) ?? this.#response;
    const shown = this.#stage.note(frame.json);
    if (shown === null) return;
    for (const part of frame.parts) {
      if (part.kind === "tool" && "args" in shown) this.#calls.set(part.block, shown);
      else if ((part.kind === "text" || part.kind === "reasoning") && "channel" in shown) {
        this.#texts.set(nameOf(part), shown);
      }
    }
  }

  named(json: JsonObject): void {
    const response = asObject(json.response) ?? json;
    if (response.object === "response") this.#response = unfinished(response);
  }

  say(parts: readonly Part[], frame: Frame | null): string {
    if (parts.length === 0) return this.#other(frame?.json ?? {});
    return parts.map((part) => this.#say(part, frame?.json ?? {})).join("");
  }

  finish(ending: Ending): string {
    const { status, reason } = statusOf(ending.finish);
    const begun = this.#begin();
    const last = this.#stage.items.at(-1);
    const closed = this.#stage.items
      .map((item) => this.#stage.closeItem(item, item === last ? status : "completed"))
      .join("");
    const terminal = ending.tail.findLast((frame) => isObject(frame.json?.response))?.json ?? {};
    const told = this.#told(asObject(terminal.response) ?? {});
    const response = ended(told, ending, status, reason, this.#output(status));
    const { type, sequence_number, response: _, ...extras } = terminal;
    return begun + closed + this.#stage.lifecycle(`response.${status}`, response, extras) + doneOf(ending.tail);
  }

  fail(failure: Failure): string {
    const begun = this.#begin();
    const { error } = errorObject(failure);
    const response = { ...this.#response, status: "failed", output: this.#output("incomplete"), error: error ?? null };
    return begun + this.#stage.lifecycle("response.failed", response);
  }

  annotate(tail: readonly Frame[], report: Report): string {
    const finish = tail.findLast((frame) => isObject(frame.json?.response));
    const told = ({ json, ...frame }: Frame) => {
      const response = { ...asObject(json?.response), lastword: lastwordOf(report) };
      return eventOf({ ...frame, json, data: JSON.stringify({ ...json, response }) });
    };
    return tail.map((frame) => (frame === finish ? told(frame) : eventOf(frame))).join("");
  }

  body(first: JsonObject | null, ending: Ending): JsonObject {
    const { status, reason } = statusOf(ending.finish);
    const bodies = [...(first === null ? [] : [first]), ...(ending.later ?? [])];
    const terminal = ending.tail.findLast((frame) => isObject(frame.json?.response))?.json;
    const last = asObject(terminal?.response) ?? bodies.at(-1) ?? {};
    this.#response = first ?? this.#response ?? this.#blank();
    const output = joinedOutput(ending.reply.blocks, bodies, status, this.#naming());
    return ended(this.#told(last), ending, status, reason, output);
  }

  stream(body: JsonObject): string {
    this.#response = body;
    let all = this.#open(unfinished(body));
    for (const own of outputOf(body)) all += this.#retell(own);
    return all + this.#stage.lifecycle(`response.${asString(body.status) ?? "completed"}`, body);
  }

  /** `own`: the upstream's event, whose unknown fields survive where it is of the same kind. */
  #say(part: Part, own: JsonObject): string {
    switch (part.kind) {
      case "text":
        return this.#add(nameOf(part), "output_text", part.text, own);
      case "reasoning":
        return this.#add(nameOf(part), "reasoning_text", part.text, own);
      case "tool":
        return this.#call(part, own);
      case "tool_end": {
        const item = this.#calls.get(part.block);
        return item === undefined ? "" : this.#stage.closeItem(item, "completed");
      }
      case "sealed_reasoning":
        return this.#seal(nameOf(part), own);
      case "finish":
      case "usage":
      case "fault":
      case "end":
        return "";
      default:
        return part satisfies never;
    }
  }

  #add(name: string, channel: ChannelName, text: string, own: JsonObject): string {
    if (text === "") return "";
    const known = this.#texts.get(name);
    const { part, events } = isOpen(known) ? { part: known, events: "" } : this.#newPart(channel, own);
    this.#texts.set(name, part);
    return events + this.#stage.addText(part, text, extrasOf(own, part, text));
  }

  /** Sealed reasoning goes on as the upstream's own: the pieces of its summary, and its item once that is whole. */
  #seal(name: string, own: JsonObject): string {
    if (own.type === CHANNELS.summary_text.delta)
      return this.#add(name, "summary_text", asString(own.delta) ?? "", own);
    const whole = asObject(own.item);
    if (own.type !== "response.output_item.done" || whole === undefined) return "";
    const known = this.#stage.items.find((item) => item.id === whole.id);
    const { item, events } = known ? { item: known, events: "" } : this.#newItem(REASONING, own);
    item.own = whole;
    return events + this.#stage.closeItem(item, "completed");
  }

  /** In an item that the pass has begun, or that holds nothing yet, else in a new one behind all others. */
  #newPart(channel: ChannelName, own: JsonObject): { readonly part: ShownPart; readonly events: string } {
    const blank = channel === "output_text" ? MESSAGE : REASONING;
    const under = this.#under(channel === "output_text" ? "message" : "reasoning", own);
    const bare = under?.parts.find((part) => isOpen(part) && part.channel === channel && part.text === "");
    if (bare !== undefined) return { part: bare, events: "" };
    const begun = under === null ? this.#newItem(blank, own) : { item: under, events: this.#stage.closeParts(under) };
    const { part, events } = this.#stage.openPart(begun.item, channel, blankPart(channel));
    return { part, events: begun.events + events };
  }

  #under(type: string, own: JsonObject): ShownItem | null {
    const last = this.#stage.items.at(-1);
    if (last === undefined || last.done || last.own.type !== type) return null;
    return last.id === own.item_id || last.parts.every((part) => part.text === "") ? last : null;
  }

  #call({ block, id, name, args }: Tool, own: JsonObject): string {
    const known = this.#calls.get(block);
    const open = known !== undefined && !known.done;
    const { item, events } = open
      ? { item: known, events: "" }
      : this.#newItem({ kind: "tool", id, name, text: "" }, own);
    this.#calls.set(block, item);
    return events + (args === "" ? "" : this.#stage.addArgs(item, args));
  }

  /** Begins an item, under the id that the upstream gave it where the client does not know that yet. */
  #newItem(blank: Blank, own: JsonObject): { readonly item: ShownItem; readonly events: string } {
    const made = blankItem(blank, this.#stage.items.length, this.#naming());
    const id = asString(own.item_id) ?? asString(asObject(own.item)?.id);
    return this.#openItem(id !== undefined && this.#isFree(id) ? { ...made, id } : made);
  }

  /** Closes what is open and begins an item behind all others. */
  #openItem(own: JsonObject): { readonly item: ShownItem; readonly events: string } {
    const begun = this.#begin();
    const closed = this.#stage.items.map((item) => this.#stage.closeItem(item, "completed")).join("");
    const { item, events } = this.#stage.openItem(own);
    return { item, events: begun + closed + events };
  }

  #isFree(id: string): boolean {
    return this.#stage.items.every((item) => item.id !== id);
  }

  /** What the server's own tools make: the upstream's own events, with the id and the number that their item has here. */
  #other(own: JsonObject): string {
    const whole = asObject(own.item);
    const id = asString(own.item_id) ?? asString(whole?.id) ?? "";
    if (own.type === "response.output_item.added" && whole !== undefined) {
      const { item, events } = this.#openItem(
        this.#isFree(id) ? whole : { ...whole, id: `${id}_${this.#stage.items.length}` },
      );
      this.#others.set(id, item);
      return events;
    }
    const item = this.#others.get(id);
    return item === undefined || item.done ? "" : this.#stage.relay(item, own);
  }

  #begin(): string {
    if (this.#begun) return "";
    this.#begun = true;
    this.#response ??= this.#blank();
    return this.#open(this.#response);
  }

  #open(response: JsonObject): string {
    return (
      this.#stage.lifecycle("response.created", response) + this.#stage.lifecycle("response.in_progress", response)
    );
  }

  /** A whole item as events. */
  #retell(own: JsonObject): string {
    const said = spoken(own);
    const begun: JsonObject = { ...own };
    if (said.length > 0) begun.content = [];
    if (isCall(own.type)) begun[CALLS[own.type].field] = "";
    if (own.status !== undefined && (said.length > 0 || isCall(own.type))) begun.status = "in_progress";
    const { item, events } = this.#stage.openItem(begun);
    let all = events;
    for (const { own: part, channel, text } of said) {
      const opened = this.#stage.openPart(item, channel, { ...part, [CHANNELS[channel].field]: "" });
      const { logprobs } = part;
      all += opened.events + this.#stage.addText(opened.part, text, logprobs === undefined ? {} : { logprobs });
    }
    if (argsOf(own) !== "") all += this.#stage.addArgs(item, argsOf(own));
    return all + this.#stage.closeItem(item, asString(own.status) ?? "completed");
  }

  #output(status: string): JsonObject[] {
    return this.#stage.items.toSorted((a, b) => a.index - b.index).map((item) => wholeItem(item, status));
  }

  /** The response as the first pass began it; what only its end tells is from the last pass. */
  #told(last: JsonObject): JsonObject {
    const first = this.#response ?? {};
    const { completed_at } = last;
    return { ...last, ...first, ...(completed_at === undefined ? {} : { completed_at }) };
  }

  /** Clients send items back, so that their ids must not meet those of other responses: they are made from the response's own. */
  #naming(): Naming {
    const id = asString(this.#response?.id)?.replace(/^resp_/, "") ?? this.#id;
    return { id, freeform: freeformNames(this.#ask.tools) };
  }

  #blank(): JsonObject {
    return {
      id: `resp_${this.#id}`,
      object: "response",
      created_at: 0,
      status: "in_progress",
      model: this.#ask.model,
      output: [],
    };
  }
}

/** A whole response as it stood when it began. */
function unfinished(body: JsonObject): JsonObject {
  const { lastword, incomplete_details, completed_at, output_text, ...begun } = body;
  const reason = incomplete_details === undefined ? {} : { incomplete_details: null };
  return { ...begun, ...reason, status: "in_progress", output: [], usage: null };
}

/** The response at its end. */
function ended(
  told: JsonObject,
  ending: Ending,
  status: string,
  reason: string | null,
  output: JsonObject[],
): JsonObject {
  const response: JsonObject = { ...told, status, output };
  if (reason !== null) response.incomplete_details = { reason };
  else if (told.incomplete_details !== undefined) response.incomplete_details = null;
  if (typeof told.output_text === "string") response.output_text = output.flatMap(textsOf).join("");
  if (ending.usage !== null) response.usage = usageObject(ending.usage);
  if (ending.report !== null) response.lastword = lastwordOf(ending.report);
  return response;
}

function textsOf(item: JsonObject): string[] {
  return spoken(item).map(({ channel, text }) => (channel === "output_text" ? text : ""));
}

/** Fields of the upstream's own piece that lastword does not know, and the log probabilities of what is left of it. */
function extrasOf(own: JsonObject, part: ShownPart, text: string): JsonObject {
  if (own.type !== CHANNELS[part.channel].delta) return {};
  const {
    type,
    sequence_number,
    item_id,
    output_index,
    content_index,
    summary_index,
    delta,
    obfuscation,
    logprobs,
    ...rest
  } = own;
  if (!Array.isArray(logprobs)) return rest;
  if (delta === text || logprobs.length === 0) return { ...rest, logprobs };
  return { ...rest, logprobs: asArray(part.logprobs?.fitted({ content: logprobs }, text)?.content) };
}

function isOpen(part: ShownPart | undefined): part is ShownPart {
  return part !== undefined && !part.done && !part.item.done;
}

/** Texts of a reply are told apart by what they are and by their number. */
function nameOf(part: Extract<Part, { kind: "text" | "reasoning" | "sealed_reasoning" }>): string {
  return `${part.kind === "text" ? "text" : "thought"}:${part.block}`;
}

/** OpenRouter's last word. */
function doneOf(tail: readonly Frame[]): string {
  return tail
    .filter((frame) => frame.json === null)
    .map(eventOf)
    .join("");
}
