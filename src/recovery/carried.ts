import type { Part } from "../core/part.ts";
import type { Block } from "../core/reply.ts";
import { JsonScanner } from "../stitch/scanner.ts";
import type { Discard, Seam, SeamVerdict } from "../stitch/seam.ts";
import type { Ears } from "./ears.ts";

/** Characters of a line of the model's own in front of the arguments (an announcement, a fence), and how many such lines are passed over. */
const LONGEST_OPENING = 200;
const MOST_OPENINGS = 3;
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
  readonly #open: () => Seam;
  readonly #json: JsonScanner;
  #seam: Seam;
  #head = "";
  #openings = 0;
  /** Characters of the openings that were passed over. */
  #passed = 0;
  #behind = 0;

  /** @param open the joint, once for each place at which the arguments may begin */
  constructor(call: Block, open: () => Seam) {
    this.#call = call;
    this.#open = open;
    this.#seam = open();
    this.#json = new JsonScanner().push(call.text);
  }

  /** A pass whose arguments are closed is heard to its end, for its usage, unless the model goes on and on. */
  get done(): boolean {
    return this.discard !== null || this.#behind > LONGEST_REMARK;
  }

  hear(text: string): Part[] {
    if (this.seam !== null) return this.#args(text);
    this.#head += text;
    return this.#decided(this.#seam.push(text), false);
  }

  end(): Part[] {
    // Open arguments that nothing was added to were not gone on with.
    if (this.#head === "" && this.#passed === 0) this.discard ??= "no_alignment";
    return this.seam === null && this.discard === null ? this.#decided(this.#seam.end(), true) : [];
  }

  #decided(verdict: SeamVerdict, whole: boolean): Part[] {
    if (verdict.do === "hold") return [];
    if (verdict.do === "discard") return this.#behindOpening(whole) ?? this.#refuse(verdict.why);
    this.seam = { overlap: verdict.overlap, dropped: this.#passed + verdict.drop };
    return this.#args(this.#head.slice(verdict.drop));
  }

  #refuse(why: Discard): Part[] {
    this.discard = why;
    return [];
  }

  /** A first line that cannot be joined may be the model's own: what follows it must prove itself all the same. null: there is none. */
  #behindOpening(whole: boolean): Part[] | null {
    const end = this.#head.indexOf("\n") + 1;
    if (end === 0 || end > LONGEST_OPENING || this.#openings >= MOST_OPENINGS) return null;
    this.#openings++;
    this.#passed += end;
    this.#head = this.#head.slice(end);
    this.#seam = this.#open();
    const verdict = this.#seam.push(this.#head);
    return this.#decided(verdict.do === "hold" && whole ? this.#seam.end() : verdict, whole);
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
