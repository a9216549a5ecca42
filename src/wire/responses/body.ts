import { asArray, type Json, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { type Block, emptyReply, take } from "../../core/reply.ts";
import { Logprobs } from "../openai/logprobs.ts";
import { type Slot, weave } from "../weave.ts";
import { blankItem, blankPart, type Naming } from "./blank.ts";
import { CHANNELS, isCall } from "./channels.ts";
import { Numbers, outputOf, partsOf, said, spoken } from "./items.ts";

/** Where a block stood in a plain body: the item, and the content part where it is one. */
interface Place {
  readonly item: JsonObject;
  readonly part: JsonObject | null;
}

/**
 * The output of a reply that several plain bodies made.
 * @param status of the last item; all others are completed
 */
export function joinedOutput(
  blocks: readonly Block[],
  bodies: readonly JsonObject[],
  status: string,
  naming: Naming,
): JsonObject[] {
  const output: { readonly item: JsonObject; readonly from: JsonObject | null; readonly content: Json[] }[] = [];
  for (const { block, own } of weave(blocks, bodies.map(slotsOf))) {
    const part = own?.part && block !== null ? extended(own.part, block.text, bodies) : null;
    const last = output.at(-1);
    if (part !== null && last !== undefined && last.from === own?.item) last.content.push(part);
    else if (own !== null) output.push({ item: own.item, from: own.item, content: part === null ? [] : [part] });
    else if (block?.kind === "tool") {
      output.push({ item: blankItem(block, output.length, naming), from: null, content: [] });
    } else if (block !== null && block.text !== "") {
      const content = [{ ...blankPart(block.kind === "text" ? "output_text" : "reasoning_text"), text: block.text }];
      output.push({ item: blankItem(block, output.length, naming), from: null, content });
    }
  }
  return output.map(({ item, content }, i) =>
    finished(content.length === 0 ? item : { ...item, content }, i === output.length - 1 ? status : "completed"),
  );
}

function slotsOf(body: JsonObject): Slot<Place>[] {
  return outputOf(body).flatMap((item): Slot<Place>[] => {
    const parts = spoken(item).filter(({ text }) => text !== "");
    if (parts.length > 0) {
      return parts.map(({ own, channel, text }) => ({
        says: blockOf([said(channel, 0, text)]),
        own: { item, part: own },
      }));
    }
    if (item.type === "message") return [];
    return [{ says: blockOf(partsOf(item, new Numbers(), 0)), own: { item, part: null } }];
  });
}

function blockOf(parts: readonly Part[]): Block | null {
  const reply = emptyReply();
  for (const part of parts) take(reply, part);
  return reply.blocks[0] ?? null;
}

/** A content part with the whole text. */
function extended(part: JsonObject, text: string, bodies: readonly JsonObject[]): JsonObject {
  const field = part.type === "refusal" ? CHANNELS.refusal.field : CHANNELS.output_text.field;
  if (part[field] === text) return part;
  const whole = { ...part, [field]: text };
  if (!Array.isArray(part.logprobs)) return whole;
  const logprobs = new Logprobs();
  for (const body of bodies) {
    const all = outputOf(body).flatMap(spoken);
    const content = all.flatMap((one) => asArray(one.own.logprobs));
    logprobs.heard({ content }, all.map((one) => one.text).join(""));
  }
  return { ...whole, logprobs: asArray(logprobs.joined(text)?.content) };
}

/** Items of the server's own tools have a status of their own. */
function finished(item: JsonObject, status: string): JsonObject {
  const tells =
    item.type === "message" || isCall(item.type) || (item.type === "reasoning" && item.status !== undefined);
  return tells ? { ...item, status } : item;
}
