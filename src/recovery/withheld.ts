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
  #first: Said[] = [];
  #joined: Said[] = [];
  /** How things stood before anything was joined, and before the last pass. */
  #sure: Standing | null = null;
  #before: Standing | null = null;

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
    this.#before = { blocks: copied(this.#known.blocks), first: [...this.#first], joined: [...this.#joined] };
    this.#sure ??= this.#before;
  }

  /** What stands now is shown, and nothing waits. */
  settle(): void {
    this.#sure = null;
    this.begin();
  }

  join(parts: readonly Part[], frame: Frame | null): void {
    this.#joined.push({ parts, frame });
  }

  /** The last pass counts for nothing. */
  undo(): void {
    if (this.#before !== null) this.#restore(this.#before);
  }

  /** Nothing that was joined is proven, nor will it be. */
  forsake(): void {
    if (this.#sure !== null) this.#restore(this.#sure);
  }

  /** All that waits may be shown. */
  release(): Said[] {
    return [...this.#first.splice(0), ...this.#joined.splice(0)];
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

  #restore({ blocks, first, joined }: Standing): void {
    this.#first = [...first];
    this.#joined = [...joined];
    this.#known.blocks.splice(0, Number.POSITIVE_INFINITY, ...copied(blocks));
  }
}

interface Standing {
  readonly blocks: readonly Block[];
  readonly first: readonly Said[];
  readonly joined: readonly Said[];
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
