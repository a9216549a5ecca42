import { asArray, asNumber, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { Logprobs } from "../openai/logprobs.ts";
import { namedEvent } from "../sse.ts";
import { CALLS, CHANNELS, type ChannelName, channelOf, isCall, isChannel } from "./channels.ts";
import { argsOf } from "./items.ts";

/** A content part (or summary part) that the client has been shown. */
export interface ShownPart {
  readonly item: ShownItem;
  readonly channel: ChannelName;
  readonly index: number;
  /** The part as it was announced; null where it was not. */
  readonly own: JsonObject | null;
  text: string;
  /** Of all pieces; null where no piece had any, not even an empty list. */
  logprobs: Logprobs | null;
  readonly annotations: Json[];
  /** Its whole was told; its end was told. */
  done: boolean;
  ended: boolean;
}

/** An output item that the client has been shown. */
export interface ShownItem {
  readonly id: string;
  readonly index: number;
  /** The item as it was last told. */
  own: JsonObject;
  readonly parts: ShownPart[];
  /** Of a call. */
  args: string;
  argsDone: boolean;
  done: boolean;
}

/**
 * What a client has been shown of a response, and the events that add to it and close it.
 * They bear numbers as the first pass's events did: llama-server gives none, and none are added then.
 */
export class Stage {
  readonly items: ShownItem[] = [];
  #sequence: number | null = 0;
  #indexed = true;
  #seen = false;

  /** Remembers an event that went to the client as it came. Returns what it belongs to. */
  note(json: JsonObject): ShownItem | ShownPart | null {
    const sequence = asNumber(json.sequence_number);
    if (!this.#seen && sequence === undefined) {
      this.#sequence = null;
      this.#indexed = false;
    }
    this.#seen = true;
    if (sequence !== undefined) this.#sequence = sequence + 1;
    if (json.type === "response.output_item.added") return this.#noteItem(asObject(json.item) ?? {}, json);
    const item = this.#itemOf(json);
    if (item === null) return null;
    const channel = channelOf(json.type, "delta") ?? channelOf(json.type, "done");
    if (channel !== undefined) return this.#notePiece(item, channel, json);
    this.#noteOther(item, json);
    return item;
  }

  /** An event about the response itself. */
  lifecycle(type: string, response: JsonObject, extras: JsonObject = {}): string {
    return this.#event(type, {}, { ...extras, response });
  }

  /** Begins a new item behind all others. */
  openItem(own: JsonObject): { readonly item: ShownItem; readonly events: string } {
    const item = this.#push(own, (this.items.at(-1)?.index ?? -1) + 1);
    return { item, events: this.#event("response.output_item.added", this.#at(item), { item: own }) };
  }

  openPart(
    item: ShownItem,
    channel: ChannelName,
    own: JsonObject,
  ): { readonly part: ShownPart; readonly events: string } {
    const { added, index } = CHANNELS[channel];
    const beside = item.parts.filter((other) => CHANNELS[other.channel].index === index);
    const part = fresh(item, channel, beside.length, own);
    item.parts.push(part);
    return { part, events: this.#event(added, this.#in(part), { part: own }) };
  }

  /** @param extras unknown fields of the upstream's own event */
  addText(part: ShownPart, text: string, extras: JsonObject): string {
    hear(part, text, extras.logprobs);
    return this.#event(CHANNELS[part.channel].delta, this.#in(part), { delta: text, ...extras });
  }

  addArgs(item: ShownItem, args: string): string {
    if (!isCall(item.own.type)) return "";
    item.args += args;
    return this.#event(CALLS[item.own.type].delta, { item_id: item.id, ...this.#at(item) }, { delta: args });
  }

  /** The upstream's own event about an item that it gave whole. */
  relay(item: ShownItem, json: JsonObject): string {
    const { type, sequence_number, output_index, item_id, item: own, ...rest } = json;
    if (isObject(own)) item.own = { ...own, id: item.id };
    if (type === "response.output_item.done") item.done = true;
    const place = item_id === undefined ? {} : { item_id: item.id };
    const whole = isObject(own) ? { item: item.own } : {};
    return this.#event(asString(type) ?? "", { ...place, ...this.#at(item) }, { ...rest, ...whole });
  }

  /** Tells the whole of an item, and of all in it, that has not been told. */
  closeItem(item: ShownItem, status: string): string {
    if (item.done) return "";
    let all = this.closeParts(item);
    if (isCall(item.own.type) && !item.argsDone) {
      const { done, field } = CALLS[item.own.type];
      const { name } = item.own;
      all += this.#event(
        done,
        { item_id: item.id, ...this.#at(item) },
        { [field]: item.args, ...(name === undefined ? {} : { name }) },
      );
    }
    item.own = wholeItem(item, status);
    item.done = true;
    return all + this.#event("response.output_item.done", this.#at(item), { item: item.own });
  }

  closeParts(item: ShownItem): string {
    return item.parts.map((part) => this.#closePart(part)).join("");
  }

  #closePart(part: ShownPart): string {
    const { done, ended, field } = CHANNELS[part.channel];
    let all = "";
    if (!part.done) {
      const logprobs = part.logprobs === null ? {} : { logprobs: wholeLogprobs(part) };
      all += this.#event(done, this.#in(part), { [field]: part.text, ...logprobs });
    }
    if (!part.ended && part.own !== null) all += this.#event(ended, this.#in(part), { part: wholePart(part) });
    part.done = true;
    part.ended = true;
    return all;
  }

  #noteItem(own: JsonObject, json: JsonObject): ShownItem {
    const index = asNumber(json.output_index);
    this.#indexed = index !== undefined;
    return this.#push(own, index ?? this.items.length);
  }

  #push(own: JsonObject, index: number): ShownItem {
    const id = asString(own.id) ?? "";
    const item: ShownItem = { id, index, own, parts: [], args: argsOf(own), argsDone: false, done: false };
    this.items.push(item);
    return item;
  }

  #notePiece(item: ShownItem, channel: ChannelName, json: JsonObject): ShownPart {
    const part = this.#partOf(item, channel, json);
    const { delta, field } = CHANNELS[channel];
    if (json.type !== delta) {
      part.text = asString(json[field]) ?? part.text;
      part.done = true;
    } else {
      hear(part, asString(json.delta) ?? "", json.logprobs);
    }
    return part;
  }

  #noteOther(item: ShownItem, json: JsonObject): void {
    const { type } = json;
    const own = asObject(json.part) ?? {};
    if (type === "response.output_item.done") {
      item.own = asObject(json.item) ?? item.own;
      item.done = true;
    } else if (type === "response.content_part.added" || type === "response.reasoning_summary_part.added") {
      if (isChannel(own.type)) item.parts.push(fresh(item, own.type, this.#indexIn(own.type, json), own));
    } else if (type === "response.content_part.done" || type === "response.reasoning_summary_part.done") {
      if (isChannel(own.type)) this.#partOf(item, own.type, json).ended = true;
    } else if (type === "response.output_text.annotation.added") {
      this.#partOf(item, "output_text", json).annotations.push(json.annotation ?? null);
    } else if (isCall(item.own.type)) {
      const { delta, done, field } = CALLS[item.own.type];
      if (type === delta) item.args += asString(json.delta) ?? "";
      if (type !== done) return;
      item.args = asString(json[field]) ?? item.args;
      item.argsDone = true;
    }
  }

  #itemOf(json: JsonObject): ShownItem | null {
    const id = asString(json.item_id) ?? asString(asObject(json.item)?.id);
    const index = asNumber(json.output_index);
    return this.items.findLast((item) => (id === undefined ? item.index === index : item.id === id)) ?? null;
  }

  #partOf(item: ShownItem, channel: ChannelName, json: JsonObject): ShownPart {
    const index = this.#indexIn(channel, json);
    const known = item.parts.find((part) => part.channel === channel && part.index === index);
    if (known !== undefined) return known;
    const part = fresh(item, channel, index, null);
    item.parts.push(part);
    return part;
  }

  #indexIn(channel: ChannelName, json: JsonObject): number {
    return asNumber(json[CHANNELS[channel].index]) ?? 0;
  }

  #at(item: ShownItem): JsonObject {
    return this.#indexed ? { output_index: item.index } : {};
  }

  #in({ item, channel, index }: ShownPart): JsonObject {
    const place = { item_id: item.id, ...this.#at(item) };
    return this.#indexed ? { ...place, [CHANNELS[channel].index]: index } : place;
  }

  #event(type: string, place: JsonObject, rest: JsonObject): string {
    const number = this.#sequence === null ? {} : { sequence_number: this.#sequence++ };
    return namedEvent({ type, ...number, ...place, ...rest });
  }
}

function fresh(item: ShownItem, channel: ChannelName, index: number, own: JsonObject | null): ShownPart {
  const text = asString(own?.[CHANNELS[channel].field]) ?? "";
  return { item, channel, index, own, text, logprobs: null, annotations: [], done: false, ended: false };
}

function hear(part: ShownPart, text: string, logprobs: Json | undefined): void {
  part.text += text;
  if (Array.isArray(logprobs)) part.logprobs ??= new Logprobs();
  part.logprobs?.heard(Array.isArray(logprobs) ? { content: logprobs } : undefined, text);
}

/** An item with all that was shown of it. */
export function wholeItem(item: ShownItem, status: string): JsonObject {
  const { own, parts } = item;
  if (item.done) return own;
  if (isCall(own.type)) return { ...own, [CALLS[own.type].field]: item.args, status };
  if (own.type !== "message" && own.type !== "reasoning") return own;
  const whole: JsonObject = { ...own };
  const summary = parts.filter((part) => part.channel === "summary_text");
  const content = parts.filter((part) => part.channel !== "summary_text");
  if (summary.length > 0) whole.summary = summary.map(wholePart);
  if (content.length > 0) whole.content = content.map(wholePart);
  if (own.type === "message" || own.status !== undefined) whole.status = status;
  return whole;
}

function wholePart(part: ShownPart): JsonObject {
  const whole: JsonObject = { type: part.channel, ...part.own, [CHANNELS[part.channel].field]: part.text };
  if (part.channel !== "output_text") return whole;
  whole.annotations = part.annotations.length > 0 ? part.annotations : asArray(part.own?.annotations);
  if (part.logprobs !== null) whole.logprobs = wholeLogprobs(part);
  return whole;
}

function wholeLogprobs(part: ShownPart): Json[] {
  return asArray(part.logprobs?.joined(part.text)?.content);
}
