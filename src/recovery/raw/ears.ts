import type { Part } from "../../core/part.ts";
import type { Block } from "../../core/reply.ts";
import { JsonScanner } from "../../stitch/scanner.ts";
import type { Ears } from "../ears.ts";
import type { Markup } from "./markup.ts";

/** Where in its turn the model is. `lost`: inside of a call that cannot be read. */
type At = "thought" | "text" | "name" | "args" | "after" | "lost";

export interface RawEarsOptions {
  readonly markup: Markup;
  /** The call whose arguments the pass goes on with; null: it goes on with `at`. */
  readonly call: Block | null;
  readonly at: "thought" | "text";
  /** Number of the thought or text that is gone on with. */
  readonly block: number;
  /** Number and id of the n-th call that the pass itself makes, from 0. */
  readonly fresh: (n: number) => { readonly block: number; readonly id: string };
}

/** Characters after which a call's name, or what stands around it, is given up. */
const LONGEST_HEAD = 400;

/** Reads a turn that is resumed on the completion endpoint, where the template's markup is plain text: its thought, text and calls. */
export class RawEars implements Ears {
  readonly done = false;
  readonly discard = null;
  readonly seam = null;
  readonly #o: RawEarsOptions;
  #at: At;
  /** Text that may yet be the beginning of a sign, or whose meaning is not clear. */
  #held = "";
  #json = new JsonScanner();
  /** Number of the call that is being read. */
  #block: number;
  #made = 0;
  /** Blanks that stand between a thought's end and the text are the template's. */
  #blanksOwed = false;

  constructor(options: RawEarsOptions) {
    this.#o = options;
    this.#at = options.call === null ? options.at : "args";
    this.#block = options.call?.block ?? 0;
    if (options.call !== null) this.#json.push(options.call.text);
  }

  get lost(): boolean {
    return this.#at === "lost" || this.#at === "name";
  }

  hear(text: string): Part[] {
    const said: Part[] = [];
    this.#held += text;
    while (this.#step(said));
    return said;
  }

  end(): Part[] {
    const held = this.#held;
    if (held === "" || this.#at === "name") return [];
    this.#held = "";
    if (this.#at === "thought") return [this.#thought(held)];
    return this.#at === "text" ? [this.#text(held)] : [];
  }

  /** Reads on from what is held; false: more is needed. */
  #step(said: Part[]): boolean {
    if (this.#held === "") return false;
    switch (this.#at) {
      case "thought":
        return this.#inThought(said);
      case "text":
        return this.#inText(said);
      case "name":
        return this.#inName(said);
      case "args":
        return this.#inArgs(said);
      case "after":
        return this.#inAfter();
      case "lost":
        this.#held = "";
        return false;
      default:
        return this.#at satisfies never;
    }
  }

  #inThought(said: Part[]): boolean {
    const end = this.#o.markup.thoughtEnd?.trim() ?? "";
    const at = end === "" ? -1 : this.#held.indexOf(end);
    if (at === -1) {
      this.#release(beginsIn(this.#held, end, true), said, (text) => this.#thought(text));
      return false;
    }
    const lead = /^\s*/.exec(this.#o.markup.thoughtEnd ?? "")?.[0] ?? "";
    const thought = this.#held.slice(0, at);
    const whole = lead !== "" && thought.endsWith(lead) ? thought.slice(0, -lead.length) : thought;
    if (whole !== "") said.push(this.#thought(whole));
    this.#held = this.#held.slice(at + end.length);
    this.#at = "text";
    this.#blanksOwed = true;
    return true;
  }

  #inText(said: Part[]): boolean {
    if (this.#blanksOwed) {
      this.#held = this.#held.trimStart();
      if (this.#held === "") return false;
      this.#blanksOwed = false;
    }
    const sign = this.#o.markup.call?.sign ?? "";
    const at = sign === "" ? -1 : this.#held.indexOf(sign);
    if (at === -1) {
      this.#release(beginsIn(this.#held, sign, false), said, (text) => this.#text(text));
      return false;
    }
    if (at > 0) said.push(this.#text(this.#held.slice(0, at)));
    return this.#begin(at + sign.length);
  }

  /** A call begins. */
  #begin(at: number): boolean {
    this.#held = this.#held.slice(at);
    this.#at = this.#o.markup.call?.json === null ? "lost" : "name";
    return true;
  }

  #inName(said: Part[]): boolean {
    const { beforeName, beforeArgs } = this.#o.markup.call?.json ?? { beforeName: "", beforeArgs: "" };
    const from = passed(this.#held, 0, beforeName);
    const until = squeezed(beforeArgs).charAt(0);
    const to = from < 0 ? -1 : this.#held.indexOf(until, from);
    const args = to < 0 ? -1 : passed(this.#held, to, beforeArgs);
    const wrong = from === WRONG || args === WRONG;
    if (wrong || this.#held.length > LONGEST_HEAD) this.#at = "lost";
    if (wrong || from < 0 || to < 0 || args < 0) return wrong;
    const { block, id } = this.#o.fresh(this.#made++);
    this.#block = block;
    said.push({ kind: "tool", block, id, name: this.#held.slice(from, to).trim(), args: "" });
    this.#held = this.#held.slice(args);
    this.#json = new JsonScanner();
    this.#at = "args";
    return true;
  }

  #inArgs(said: Part[]): boolean {
    let at = 0;
    while (at < this.#held.length && !this.#json.complete && !this.#json.broken)
      this.#json.push(this.#held.charAt(at++));
    said.push({ kind: "tool", block: this.#block, id: "", name: "", args: this.#held.slice(0, at) });
    this.#held = this.#held.slice(at);
    if (this.#json.complete) this.#at = "after";
    else if (this.#json.broken) this.#at = "lost";
    return this.#held !== "";
  }

  /** Behind a call stand the template's closing signs, the end, or a further call. */
  #inAfter(): boolean {
    const sign = this.#o.markup.call?.sign ?? "";
    const at = sign === "" ? -1 : this.#held.indexOf(sign);
    if (at !== -1) return this.#begin(at + sign.length);
    // Without a sign to know a further call by, its arguments tell of it.
    if (sign === "" && this.#held.includes("{")) this.#at = "lost";
    else this.#held = this.#held.slice(this.#held.length - beginsIn(this.#held, sign, false));
    return false;
  }

  /** Lets go of what is held but for its last `keep` characters. */
  #release(keep: number, said: Part[], part: (text: string) => Part): void {
    const solid = this.#held.slice(0, this.#held.length - keep);
    if (solid !== "") said.push(part(solid));
    this.#held = this.#held.slice(solid.length);
  }

  #thought(text: string): Part {
    return { kind: "reasoning", block: this.#o.at === "thought" ? this.#o.block : 0, text };
  }

  #text(text: string): Part {
    return { kind: "text", block: this.#o.at === "text" ? this.#o.block : 0, text };
  }
}

/** Characters at the end of the text that may be the beginning of a sign, the blanks before it included where they are the template's. */
function beginsIn(text: string, sign: string, blanks: boolean): number {
  let keep = Math.min(text.length, Math.max(0, sign.length - 1));
  while (keep > 0 && !sign.startsWith(text.slice(text.length - keep))) keep--;
  if (!blanks || sign === "") return keep;
  const before = text.slice(0, text.length - keep);
  return keep + before.length - before.trimEnd().length;
}

const MORE = -1;
const WRONG = -2;

/** Where the text goes on behind `expected`, blanks aside; `MORE` or `WRONG` where it does not (yet). */
function passed(text: string, from: number, expected: string): number {
  let at = from;
  for (const unit of squeezed(expected)) {
    while (at < text.length && text.charAt(at).trim() === "") at++;
    if (at === text.length) return MORE;
    if (text.charAt(at) !== unit) return WRONG;
    at++;
  }
  while (at < text.length && text.charAt(at).trim() === "") at++;
  return at === text.length ? MORE : at;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}
