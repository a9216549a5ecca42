import type { Block } from "../core/reply.ts";

/** One thing that stands in a plain body: what it says (null where no part says it), and itself. */
export interface Slot<T> {
  readonly says: Block | null;
  readonly own: T;
}

/** One thing of the joined body: a block, what it was in the body it came from, or a thing that no block says. */
export type Woven<T> = { readonly block: Block; readonly own: T | null } | { readonly block: null; readonly own: T };

/**
 * Lays the blocks of a joined reply over the plain bodies of its passes, so that fields which no part carries (signatures, ids,
 * citations) survive, and things which no part says stay in their places. A body that gave no block adds nothing.
 */
export function weave<T>(blocks: readonly Block[], bodies: readonly (readonly Slot<T>[])[]): Woven<T>[] {
  const next = bodies.map(() => 0);
  const woven: Woven<T>[] = [];
  const between = (body: number, end: number) => {
    for (const slot of bodies[body]?.slice(next[body], end) ?? []) {
      if (slot.says === null) woven.push({ block: null, own: slot.own });
    }
    next[body] = end + 1;
  };
  for (const block of blocks) {
    const found = find(block, bodies, next);
    if (found !== null) between(found.body, found.at);
    woven.push({ block, own: found === null ? null : found.own });
  }
  bodies.forEach((slots, body) => {
    if (next[body] !== 0) between(body, slots.length);
  });
  return woven;
}

function find<T>(block: Block, bodies: readonly (readonly Slot<T>[])[], next: readonly number[]) {
  for (const [body, slots] of bodies.entries()) {
    const from = next[body] ?? 0;
    const at = slots.findIndex((slot, i) => i >= from && slot.says !== null && became(slot.says, block));
    const slot = slots[at];
    if (slot !== undefined) return { body, at, own: slot.own };
  }
  return null;
}

/** Whether a pass's own block is this block of the joined reply, or its beginning; or this is what was left of it. */
function became(own: Block, block: Block): boolean {
  if (own.kind !== block.kind) return false;
  if (own.kind === "tool") return own.name === block.name && own.id === block.id && own.text === block.text;
  if (own.text === "") return own.sealed && block.sealed && block.text === "";
  return block.text.startsWith(own.text) || (block.text !== "" && own.text.startsWith(block.text));
}
