import { asArray, asNumber, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";

/**
 * Log probabilities of one choice, over all passes. They come as chat's list of tokens under `content`, or as completions'
 * parallel arrays (`tokens`, `token_logprobs`, `top_logprobs`, `text_offset`).
 */
export class Logprobs {
  readonly #passes: (JsonObject | null)[] = [];
  /** Where the first text began, and how long the text is so far, in characters: offsets count on. */
  #from: number | null = null;
  #length = 0;

  /** What was delivered as it came. */
  heard(logprobs: Json | undefined, text: string): void {
    if (text !== "" || isObject(logprobs)) this.#passes.push(asObject(logprobs) ?? null);
    this.#from ??= asNumber(asArray(asObject(logprobs)?.text_offset)[0]) ?? null;
    this.#length += text.length;
  }

  /** What goes with `text`, a part of what they came with: the tokens that spell it, or null. */
  fitted(logprobs: JsonObject, text: string): JsonObject | null {
    const run = runOf(logprobs, text);
    const offset = asNumber(asArray(run?.text_offset)[0]);
    if (run === null || offset === undefined || this.#from === null) return run;
    const shift = this.#from + this.#length - offset;
    return { ...run, text_offset: asArray(run.text_offset).map((at) => (asNumber(at) ?? 0) + shift) };
  }

  /** Some of what was heard has them and some has not; `text`: or they cannot be joined for it. */
  lacks(text: string | null): boolean {
    if (this.#passes.every((pass) => pass === null)) return false;
    return this.#passes.includes(null) || (text !== null && this.joined(text) === null);
  }

  /**
   * All that was heard, as far as the text goes; or null: a part without them, or tokens that do not spell the text, would put every
   * index off.
   */
  joined(text: string): JsonObject | null {
    const lists = new Map<string, Json[][]>();
    const joined: JsonObject = {};
    for (const pass of this.#passes) {
      if (pass === null) return null;
      for (const [name, value] of Object.entries(pass)) {
        if (!Array.isArray(value)) joined[name] ??= value;
        else if (!lists.get(name)?.push(value)) lists.set(name, [value]);
      }
    }
    for (const [name, list] of lists) joined[name] = list.flat();
    if (this.#passes.length === 0) return null;
    return spelled(tokensOf(joined)) === text ? joined : runOf(joined, text);
  }
}

function tokensOf(logprobs: JsonObject): Json[] {
  return asArray(logprobs.content ?? logprobs.tokens);
}

/** A seam drops text at the front, and half a character at the end waits: what is left is an end or a beginning. */
function runOf(logprobs: JsonObject, text: string): JsonObject | null {
  const tokens = tokensOf(logprobs);
  if (text === "") return null;
  const runs = [
    [count(tokens, spelled(tokens).length - text.length), tokens.length],
    [0, count(tokens, text.length)],
  ] as const;
  const run = runs.find((bounds) => spelled(tokens.slice(...bounds)) === text);
  if (run === undefined) return null;
  const entries = Object.entries(logprobs);
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? value.slice(...run) : value]));
}

/** How many tokens from the front spell this many characters. */
function count(tokens: readonly Json[], characters: number): number {
  let length = 0;
  let many = 0;
  while (many < tokens.length && length < characters) length += spelled([tokens[many++] ?? null]).length;
  return many;
}

/** A token may be less than a character: where there are bytes, these say what it spells. */
function spelled(tokens: readonly Json[]): string {
  if (tokens.every((token) => Array.isArray(asObject(token)?.bytes))) {
    const bytes = tokens.flatMap((token) => asArray(asObject(token)?.bytes));
    return new TextDecoder().decode(Uint8Array.from(bytes.filter((byte) => typeof byte === "number")));
  }
  return tokens.map((token) => asString(token) ?? asString(asObject(token)?.token) ?? "").join("");
}
