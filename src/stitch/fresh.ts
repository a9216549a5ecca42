import { characterBefore, isWordy } from "./characters.ts";
import { inkOf } from "./ink.ts";
import { gluesFenceLine } from "./joint.ts";
import { LANGUAGE_HEAD, Tongue } from "./language.ts";
import { JsonScanner } from "./scanner.ts";
import type { Discard } from "./verdict.ts";

/** Units of ink that make a loop when they come again right away. */
const LEAST_LOOP = 8;
/** A loop is followed up to this length. */
const LONGEST_LOOP = 200;
/** New text by which JSON is seen to go on as JSON. */
const JSON_HEAD = 12;
/** New text in which the language of prose must be seen where nothing else shows that it goes on. */
const STRICT_HEAD = 160;
/** The end of the text that tells its language. */
const LANGUAGE_TAIL = 1_500;

/**
 * What the new text must satisfy right after a joint that is found: a model can copy the last words as it was asked and then go its own
 * way. Each check says `wait` only while the text so far leaves it open.
 */
export class Fresh {
  readonly #sent: string;
  /** What the model copied, and what came after the end of what it was shown, without blanks. */
  readonly #copied: string;
  readonly #written: string;
  readonly #tongue: Tongue;
  readonly #strict: boolean;
  /** The rest of a word that was cut is no word. */
  readonly #fragment: RegExp;
  #json: "unread" | "wrong" | "right";

  /**
   * @param from where in `sent` the model went on
   * @param shown how much of `sent` it was shown
   * @param strict it wrote nothing again that it was not shown: prose must be seen to go on in its language
   */
  constructor(sent: string, from: number, shown: number, strict: boolean) {
    this.#sent = sent;
    this.#strict = strict;
    this.#copied = inkOf(sent.slice(from, Math.min(shown, from + 2 * LONGEST_LOOP))).text.slice(0, LONGEST_LOOP);
    this.#written = inkOf(sent.slice(Math.max(from, shown))).text;
    this.#tongue = new Tongue(sent.slice(-LANGUAGE_TAIL));
    this.#fragment = isWordy(characterBefore(sent, sent.length)) ? /^[\p{L}\p{M}]+/u : /^/;
    this.#json = /^\s*[{[]/.test(sent) ? "unread" : "right";
  }

  /** null: nothing is wrong with it. `text` begins at the joint and grows; `whole`: it has ended. */
  verdict(text: string, whole: boolean): Discard | "wait" | null {
    const fence = gluesFenceLine(this.#sent, text, whole);
    if (fence !== "no") return fence === "wait" ? "wait" : "diverged";
    if (this.#json === "unread") {
      if (text.length < JSON_HEAD && !whole) return "wait";
      this.#json = this.#breaksJson(text) ? "wrong" : "right";
    }
    if (this.#json === "wrong") return "diverged";
    const loop = this.#loops(text, whole);
    if (loop !== "no") return loop === "wait" ? "wait" : "loop";
    return this.#speaks(text, whole);
  }

  #speaks(text: string, whole: boolean): Discard | "wait" | null {
    const most = this.#strict && this.#tongue.isProse ? STRICT_HEAD : LANGUAGE_HEAD;
    const reading = this.#tongue.reads(text.slice(0, most).replace(this.#fragment, ""));
    if (reading !== "unknown") return reading === "other" ? "language" : null;
    if (whole) return null;
    if (text.length < most) return "wait";
    return most === STRICT_HEAD ? "ambiguous" : null;
  }

  #breaksJson(text: string): boolean {
    const json = new JsonScanner().push(this.#sent);
    return !json.broken && !json.complete && json.push(text).broken;
  }

  /** Come to the end of what it was shown, it begins once more with what it began with. */
  #loops(text: string, whole: boolean): "yes" | "no" | "wait" {
    if (this.#copied.length < LEAST_LOOP) return "no";
    const next = this.#written + inkOf(text.slice(0, 2 * LONGEST_LOOP)).text;
    if (next.startsWith(this.#copied)) return "yes";
    return this.#copied.startsWith(next) && !whole ? "wait" : "no";
  }
}
