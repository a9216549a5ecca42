import type { Part } from "../core/part.ts";
import type { Block } from "../core/reply.ts";

/** The blocks' calls as whole parts. */
export function callParts(blocks: readonly Block[]): Part[] {
  return blocks
    .filter((block) => block.kind === "tool")
    .map((block) => ({ kind: "tool", block: block.block, id: block.id, name: block.name, args: block.text }));
}

/**
 * What calls add to those that the client was shown: the rest of their arguments, and further calls. null: they tell otherwise, and what
 * was shown can only be extended.
 */
export function addedCalls(shown: readonly Block[], calls: readonly Block[]): Part[] | null {
  if (calls.length < shown.length) return null;
  const added: Part[] = [];
  for (const [index, call] of calls.entries()) {
    const before = shown[index];
    if (before === undefined) {
      added.push(...callParts([call]));
      continue;
    }
    if (before.name !== call.name || !call.text.startsWith(before.text)) return null;
    const args = call.text.slice(before.text.length);
    if (args !== "") added.push({ kind: "tool", block: before.block, id: "", name: "", args });
  }
  return added;
}

/**
 * Which calls of a turn that was cut twice are to be carried on: the newer ones, unless the older ones came further, or the newer ones
 * are not what the client was shown.
 */
export function furtherCalls(
  older: readonly Block[],
  newer: readonly Block[],
  shown: readonly Block[],
): readonly Block[] {
  if (newer.length === 0 || (older.length > 0 && addedCalls(shown, newer) === null)) return older;
  const [before, now] = [older.at(-1), newer.at(-1)];
  const same = older.length === newer.length && before?.name === now?.name;
  return same && (before?.text.length ?? 0) > (now?.text.length ?? 0) ? older : newer;
}
