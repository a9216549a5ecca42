import type { Part } from "../core/part.ts";
import type { Block } from "../core/reply.ts";
import { JsonScanner } from "../stitch/scanner.ts";
import type { Discard, Seam, SeamVerdict } from "../stitch/seam.ts";
import type { Ears } from "./ears.ts";

/** Characters behind the closed arguments after which no end need be waited for. */
const LONGEST_REMARK = 400;

/**
 * The arguments of a call that was cut, carried on as text by a model that was shown them: joined by the seam, and read up to where the
 * model closes them. What comes behind (a fence, a remark) is not theirs.
 */
export class CarriedEars implements Ears {
  readonly lost = false;
  discard: Discard | null = null;
  seam: { overlap: number; dropped: number } | null = null;
  readonly #call: Block;
  readonly #seam: Seam;
  readonly #json: JsonScanner;
  #head = "";
  #behind = 0;

  constructor(call: Block, seam: Seam) {
    this.#call = call;
    this.#seam = seam;
    this.#json = new JsonScanner().push(call.text);
  }

  /** A pass whose arguments are closed is heard to its end, for its usage, unless the model goes on and on. */
  get done(): boolean {
    return this.discard !== null || this.#behind > LONGEST_REMARK;
  }

  hear(text: string): Part[] {
    if (this.seam !== null) return this.#args(text);
    this.#head += text;
    return this.#decided(this.#seam.push(text));
  }

  end(): Part[] {
    // Open arguments that nothing was added to were not gone on with.
    if (this.#head === "") this.discard ??= "no_alignment";
    return this.seam === null && this.discard === null ? this.#decided(this.#seam.end()) : [];
  }

  #decided(verdict: SeamVerdict): Part[] {
    if (verdict.do === "hold") return [];
    if (verdict.do === "discard") {
      this.discard = verdict.why;
      return [];
    }
    this.seam = { overlap: verdict.overlap, dropped: verdict.drop };
    return this.#args(this.#head.slice(verdict.drop));
  }

  /** Text that breaks the JSON is no continuation of it: the pass counts for nothing. */
  #args(text: string): Part[] {
    let at = 0;
    while (at < text.length && !this.#json.complete && !this.#json.broken) this.#json.push(text.charAt(at++));
    if (this.#json.broken) this.discard = "diverged";
    this.#behind += text.length - at;
    const args = this.#json.broken ? "" : text.slice(0, at);
    return args === "" ? [] : [{ kind: "tool", block: this.#call.block, id: "", name: "", args }];
  }
}
