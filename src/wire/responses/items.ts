import { asArray, asObject, asString, isObject, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { CALLS, CHANNELS, type ChannelName, isCall, isChannel } from "./channels.ts";

/** Hands out the numbers by which the parts of one response are told apart, in the order in which they first appear. */
export class Numbers {
  readonly #known = new Map<string, number>();

  of(key: string): number {
    const known = this.#known.get(key) ?? this.#known.size;
    this.#known.set(key, known);
    return known;
  }
}

/** Reasoning that must go back as it came: encrypted, or only its summary is shown. Empty fields seal nothing (llama-server). */
export function isSealed(item: JsonObject): boolean {
  return item.type === "reasoning" && (Boolean(item.encrypted_content) || asArray(item.summary).length > 0);
}

/** The content parts of an item that say something, with their text. */
export function spoken(item: JsonObject): { readonly own: JsonObject; readonly channel: ChannelName; text: string }[] {
  return asArray(item.content)
    .filter(isObject)
    .flatMap((own) => {
      const channel = own.type;
      return isChannel(channel) ? [{ own, channel, text: asString(own[CHANNELS[channel].field]) ?? "" }] : [];
    });
}

/** What a content part says. */
export function said(channel: ChannelName, block: number, text: string): Part {
  switch (channel) {
    case "output_text":
    case "refusal":
      return { kind: "text", block, text };
    case "reasoning_text":
      return { kind: "reasoning", block, text };
    case "summary_text":
      return { kind: "sealed_reasoning", block };
    default:
      return channel satisfies never;
  }
}

/** How a call begins. */
export function called(item: JsonObject, block: number, args: string): Part {
  return { kind: "tool", block, id: asString(item.call_id) ?? "", name: asString(item.name) ?? "", args };
}

/** Arguments of a whole call. */
export function argsOf(item: JsonObject): string {
  return isCall(item.type) ? (asString(item[CALLS[item.type].field]) ?? "") : "";
}

/** What each item of a plain body says; items that are no output of the model's own (server tools) say nothing. */
export function partsOf(item: JsonObject, numbers: Numbers, position: number): Part[] {
  const key = `${position}`;
  if (isCall(item.type)) {
    const block = numbers.of(key);
    const call = called(item, block, argsOf(item));
    return item.status === "incomplete" ? [call] : [call, { kind: "tool_end", block }];
  }
  const parts = spoken(item).map(({ channel, text }, i) => said(channel, numbers.of(`${key}/${i}`), text));
  if (isSealed(item)) parts.push({ kind: "sealed_reasoning", block: numbers.of(`${key}/0`) });
  return parts;
}

export function outputOf(response: JsonObject): JsonObject[] {
  return asArray(response.output).map((item) => asObject(item) ?? {});
}
