import { asArray, isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Block } from "../../core/reply.ts";
import { type Slot, weave } from "../weave.ts";
import { blockOf, contentOf } from "./blocks.ts";

/** The content of a reply that several plain bodies made. */
export function joinedContent(blocks: readonly Block[], bodies: readonly JsonObject[]): Json[] {
  return weave(blocks, bodies.map(slotsOf)).flatMap(({ block, own }) => {
    const content = block === null ? own : contentOf(block, own);
    return content === null ? [] : [content];
  });
}

function slotsOf(body: JsonObject): Slot<JsonObject>[] {
  return asArray(body.content)
    .filter(isObject)
    .map((own, number) => ({ says: blockOf(own, number), own }))
    .filter(({ says, own }) => says !== null || (own.type !== "text" && own.type !== "thinking"));
}
