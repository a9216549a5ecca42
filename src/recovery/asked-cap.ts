import type { Finish, Part } from "../core/part.ts";
import { callsOf, type Reply, reasoningOf, textOf } from "../core/reply.ts";
import { cutAt } from "../stitch/characters.ts";
import { ThoughtScan } from "./think.ts";
import { CHARACTERS_PER_TOKEN } from "./usage.ts";

/** Characters: a token is seldom longer, and hardly ever more than one word. */
const LONGEST_TOKEN = 16;
/** Characters: of a longer text the words are not looked at, however large an event may be. */
const LONG_TEXT = 4_096;
/** A reply that ended by itself is not cut for being over by less than an estimate may be off. */
const DOUBT = 1 / 8;
const WORDS = /[\p{L}\p{M}\p{N}_'’]+/gu;

/**
 * The client's own cap under `strict`, where more was sent so that a thought has its room: the visible text is ended here. Tokens
 * throughout. It is told of every pass of a request, and learns what a character of the model's text costs, so that what later passes find
 * there is counted against it too.
 */
export class AskedCap {
  /** It has ended the pass. */
  ended = false;
  /** What this pass has generated, thought included, as far as it is counted here; and what of it was cut off. */
  generated = 0;
  dropped = 0;
  readonly #asked: number;
  #left: number;
  #thought = new ThoughtScan();
  /** Of all visible text so far. */
  #tokens = 0;
  #characters = 0;
  /** What a character of a plain body costs; null: the reply comes in events. */
  #rate: number | null = null;
  #doubt = 0;

  constructor(asked: number) {
    this.#asked = asked;
    this.#left = asked;
  }

  /** A pass begins behind this text. */
  begin(known: string): void {
    this.#left = this.leftBehind(known);
    this.#thought = new ThoughtScan();
    this.#thought.push(known);
    this.#rate = null;
    this.#doubt = 0;
    this.generated = 0;
    this.dropped = 0;
    this.ended = false;
  }

  /** What a reply with this text has left of it. */
  leftBehind(known: string): number {
    const visible = known.slice(new ThoughtScan().push(known));
    if (visible === "") return this.#asked;
    const used =
      this.#characters === 0 ? tokensIn(visible) : Math.ceil((this.#tokens * visible.length) / this.#characters);
    return this.#asked - used;
  }

  /** The pass is a plain body: its usage tells what its text costs. */
  weigh(body: Reply): void {
    const text = textOf(body);
    const { tokens, sure } = tokensOfText(body);
    this.#rate = text === "" ? 0 : tokens / text.length;
    this.#doubt = sure ? 0 : DOUBT;
    this.generated =
      body.usage?.completion ?? Math.ceil((text + reasoningOf(body) + argsOf(body)).length / CHARACTERS_PER_TOKEN);
  }

  /** One event's text or thought, delivered or not. */
  hear(text: string): void {
    if (this.#rate === null) this.generated += tokensIn(text);
  }

  /** One event's text, to be delivered: how many of its characters are within the cap. */
  fits(text: string): number {
    const thought = this.#thought.push(text);
    const visible = text.slice(thought);
    if (visible === "") return text.length;
    const tokens = this.#rate === null ? tokensIn(visible) : Math.round(this.#rate * visible.length);
    const left = this.#left;
    this.#tokens += tokens;
    this.#characters += visible.length;
    this.#left = Math.max(0, left - tokens);
    if (tokens <= left * (1 + this.#doubt)) return text.length;
    this.dropped += tokens - left;
    return thought + cutAt(visible, Math.floor((visible.length * left) / tokens));
  }

  /** The same of an event's part: as much of it as is within the cap; itself, if that is all. */
  within(part: Part): Part {
    if (part.kind !== "text" && part.kind !== "reasoning") return part;
    this.hear(part.text);
    const fits = part.kind === "text" ? this.fits(part.text) : part.text.length;
    return fits === part.text.length ? part : { ...part, text: part.text.slice(0, fits) };
  }

  /** What stands behind the end of a plain body's text is not delivered either. */
  drop(text: string): void {
    this.dropped += Math.round((this.#rate ?? 0) * text.length);
  }

  /** It ends the pass. */
  end(): Finish {
    this.ended = true;
    return { kind: "cap", raw: "" };
  }
}

/**
 * Tokens of one event's text. Most servers send each token by itself, and to count more than one there would end a reply before its cap;
 * to count one for a whole batch would let many times the cap through. A token has one word at most and few characters: what is more is
 * a batch.
 */
function tokensIn(text: string): number {
  const words = text.length > LONG_TEXT ? 0 : (text.match(WORDS)?.length ?? 0);
  if (words <= 1 && text.length <= LONGEST_TOKEN) return 1;
  return Math.max(words, Math.ceil(text.length / CHARACTERS_PER_TOKEN));
}

/** Tokens of a plain body's text: what was generated, less the thought and the calls. Where these are not told, their lengths tell. */
function tokensOfText(body: Reply): { readonly tokens: number; readonly sure: boolean } {
  const { completion, reasoning } = body.usage ?? { completion: null, reasoning: null };
  const text = textOf(body);
  const thought = reasoningOf(body).length;
  const args = argsOf(body).length;
  const spoken = text.length + args;
  if (completion === null) return { tokens: tokensIn(text), sure: false };
  // Told as none though there is one, it is not told.
  const told = reasoning !== null && (reasoning > 0 || thought === 0);
  // More tokens than characters: a thought out of sight, of which the usage does not speak.
  if (!told && thought === 0 && completion > spoken) return { tokens: tokensIn(text), sure: false };
  const visible = told && reasoning <= completion ? completion - reasoning : completion;
  const tokens = (visible * text.length) / (told ? spoken : spoken + thought);
  // JSON has more tokens to its length than prose: a call must not be lost because the text before it seemed longer than it is.
  return args > 0 ? { tokens: Math.min(tokens, tokensIn(text)), sure: false } : { tokens, sure: told || thought === 0 };
}

function argsOf(body: Reply): string {
  return callsOf(body)
    .map((call) => call.text)
    .join("");
}
