import { asArray, asObject, isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import type { Block } from "../../core/reply.ts";

export type ToolPart = Extract<Part, { kind: "tool" }>;

/** How the two kinds of call are written: the field that holds one, and the field of that in which its arguments stand. */
const KINDS = {
  function: { field: "function", args: "arguments" },
  custom: { field: "custom", args: "input" },
} as const;

type Kind = keyof typeof KINDS;

/** Numbers the tool calls of a reply: the same index for all pieces of one call, a fresh one for each call that a later pass makes. */
export class Calls {
  readonly #freeform: ReadonlySet<string>;
  readonly #open = new Map<number, { readonly index: number; id: string; name: string }>();
  #count = 0;

  /** @param freeform names of tools whose arguments are plain text (`type: custom`) */
  constructor(freeform: ReadonlySet<string>) {
    this.#freeform = freeform;
  }

  /** Calls of one turn may share a number: a name with a new id is a new call. */
  place(block: number, id: string, name: string): number {
    const known = this.#open.get(block);
    if (known !== undefined && (id === "" || known.id === "" || known.id === id || name === "")) {
      if (known.id === "") known.id = id;
      if (known.name === "") known.name = name;
      return known.index;
    }
    const index = this.#count++;
    this.#open.set(block, { index, id, name });
    return index;
  }

  /** A piece for a delta; the one that bears the name begins its call. */
  piece(part: ToolPart, own: Json | undefined): JsonObject {
    const index = this.place(part.block, part.id, part.name);
    if (part.name !== "") return { index, ...this.#call(index, part, own) };
    const { field, args } = KINDS[this.#kind(this.#open.get(part.block)?.name ?? "")];
    return { index, [field]: { [args]: part.args } };
  }

  /** A call for a message. */
  whole(call: Block, own: Json | undefined): JsonObject {
    const { id, name, text } = call;
    return this.#call(this.place(call.block, id, name), { id, name, args: text }, own);
  }

  /** `own`: the upstream's calls, whose unknown fields survive. */
  #call(index: number, call: { id: string; name: string; args: string }, own: Json | undefined): JsonObject {
    const id = call.id === "" ? `call_${index}` : call.id;
    const theirs = asArray(own).find((one) => isObject(one) && one.id === id);
    const { index: _, ...rest } = asObject(theirs) ?? {};
    const type = this.#kind(call.name);
    const { field, args } = KINDS[type];
    return { ...rest, id, type, [field]: { name: call.name, [args]: call.args } };
  }

  #kind(name: string): Kind {
    return this.#freeform.has(name) ? "custom" : "function";
  }
}
