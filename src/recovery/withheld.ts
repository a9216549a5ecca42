import type { Part } from "../core/part.ts";
import type { Block, Reply } from "../core/reply.ts";
import type { Frame } from "../wire/wire.ts";

/** Output, and the upstream's own frame for it (null: of another wire, or none). */
export interface Said {
  readonly parts: readonly Part[];
  readonly frame: Frame | null;
}

/**
 * Output that belongs to the reply but waits until the whole is proven. What the first showing brought is true whatever becomes of the
 * rest; what later passes joined to it is true only if the whole is.
 */
export class Withheld {
  readonly #known: Reply;
  readonly #first: Said[] = [];
  #joined: Said[] = [];
  /** The reply without all that was joined to it. */
  #sure: readonly Block[] | null = null;
  /** The reply, and what was joined to it, before the last pass. */
  #before: { readonly blocks: readonly Block[]; readonly joined: readonly Said[] } | null = null;

  /** @param known the reply, to which the output is added by whoever withholds it */
  constructor(known: Reply) {
    this.#known = known;
  }

  /** Characters of text that the client has not been shown. */
  get length(): number {
    return [...this.#first, ...this.#joined].reduce((sum, { parts }) => sum + textLength(parts), 0);
  }

  first(parts: readonly Part[], frame: Frame | null): void {
    this.#first.push({ parts, frame });
  }

  /** A pass begins. */
  begin(): void {
    const blocks = copied(this.#known.blocks);
    this.#sure ??= blocks;
    this.#before = { blocks, joined: [...this.#joined] };
  }

  join(parts: readonly Part[], frame: Frame | null): void {
    this.#joined.push({ parts, frame });
  }

  /** The last pass counts for nothing. */
  undo(): void {
    if (this.#before === null) return;
    this.#joined = [...this.#before.joined];
    this.#restore(this.#before.blocks);
  }

  /** Nothing that was joined is proven, nor will it be. */
  forsake(): void {
    this.#joined = [];
    if (this.#sure !== null) this.#restore(this.#sure);
  }

  /** All that waits may be shown. */
  release(): Said[] {
    const all = [...this.#first.splice(0), ...this.#joined.splice(0)];
    this.#sure = null;
    this.#before = null;
    return all;
  }

  /** Takes characters from the end of the reply's text, and of what waits. */
  shorten(count: number): void {
    let left = count;
    for (const block of this.#known.blocks.toReversed()) {
      if (block.kind !== "text") continue;
      const cut = Math.min(left, block.text.length);
      block.text = block.text.slice(0, block.text.length - cut);
      left -= cut;
    }
    shortenSaid(this.#first, shortenSaid(this.#joined, count));
  }

  #restore(blocks: readonly Block[]): void {
    this.#known.blocks.splice(0, Number.POSITIVE_INFINITY, ...copied(blocks));
  }
}

function copied(blocks: readonly Block[]): Block[] {
  return blocks.map((block) => ({ ...block }));
}

function textLength(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + (part.kind === "text" ? part.text.length : 0), 0);
}

/** What of `count` is still to be taken elsewhere. */
function shortenSaid(list: Said[], count: number): number {
  let left = count;
  for (const [index, { parts, frame }] of [...list.entries()].reverse()) {
    const shortened = parts.toReversed().map((part) => {
      if (part.kind !== "text") return part;
      const cut = Math.min(left, part.text.length);
      left -= cut;
      return { ...part, text: part.text.slice(0, part.text.length - cut) };
    });
    list[index] = { parts: shortened.reverse(), frame };
  }
  return left;
}
