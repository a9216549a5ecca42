/** A container that is still open at the end of the text read so far. Offsets are characters from the start of the text. */
export interface Frame {
  readonly opener: "{" | "[";
  /** Members that are whole. */
  count: number;
  /** Where the last whole member ends. */
  end: number;
  /** In an object: where the raw key of the member under way stands, quotes included. */
  keyStart: number;
  keyEnd: number;
}

/** What may come next between two tokens. */
type Next = "value" | "first element" | "first key" | "key" | "colon" | "more" | "nothing";

type NumberState = "minus" | "zero" | "integer" | "point" | "fraction" | "e" | "sign" | "exponent";
type Digit = "0" | "1-9" | "." | "e" | "sign";

/** The token that the text ends in. */
type Token =
  | { readonly kind: "string"; readonly key: boolean; escape: "none" | "begun" | number }
  | { readonly kind: "number"; state: NumberState; readonly start: number }
  | { readonly kind: "literal"; readonly word: string; seen: number };

/** RFC 8259, section 6. */
const NUMBER: Record<NumberState, Partial<Record<Digit, NumberState>>> = {
  minus: { "0": "zero", "1-9": "integer" },
  zero: { ".": "point", e: "e" },
  integer: { "0": "integer", "1-9": "integer", ".": "point", e: "e" },
  point: { "0": "fraction", "1-9": "fraction" },
  fraction: { "0": "fraction", "1-9": "fraction", e: "e" },
  e: { "0": "exponent", "1-9": "exponent", sign: "sign" },
  sign: { "0": "exponent", "1-9": "exponent" },
  exponent: { "0": "exponent", "1-9": "exponent" },
};
const ENDS_NUMBER = new Set<NumberState>(["zero", "integer", "fraction", "exponent"]);
const LITERALS = new Map([
  ["t", "true"],
  ["f", "false"],
  ["n", "null"],
]);
const HEX = /^[0-9a-fA-F]$/;
/** Deeper than any model writes on purpose; a text that nests further counts as broken. */
const MAX_DEPTH = 512;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;

/**
 * Reads raw JSON text as it comes, in pieces cut anywhere, and knows at every moment what is open. Strict (RFC 8259), linear in
 * the text, without recursion, and bounded in depth. It never adds, closes or mends anything.
 */
export class JsonScanner {
  /** Containers that are open, outermost first. */
  readonly open: Frame[] = [];
  /** No text that could follow makes it JSON. */
  broken = false;
  /** Whitespace that the text ends in, outside of strings, in characters. */
  blanks = 0;
  #next: Next = "value";
  #token: Token | null = null;
  #read = 0;

  /** The model closed the root itself, and nothing but whitespace follows. A number as root has no end of its own until whitespace follows it. */
  get complete(): boolean {
    return !this.broken && this.#next === "nothing";
  }

  /** Nothing but whitespace so far. */
  get empty(): boolean {
    return !this.broken && this.open.length === 0 && this.#token === null && this.#next === "value";
  }

  get inString(): boolean {
    return this.#token?.kind === "string";
  }

  /** Behind a backslash, or inside `\uXXXX`. */
  get inEscape(): boolean {
    return this.#token?.kind === "string" && this.#token.escape !== "none";
  }

  /** A value, and nothing else, is due next. */
  get atValue(): boolean {
    return this.#token === null && (this.#next === "value" || this.#next === "first element");
  }

  /** Characters of the number that the text ends in, 0 where it does not end in one. */
  get digits(): number {
    return this.#token?.kind === "number" ? this.#read - this.#token.start : 0;
  }

  /** The text is one number that could stand as it is. */
  get bare(): boolean {
    const token = this.#token;
    return !this.broken && this.open.length === 0 && token?.kind === "number" && ENDS_NUMBER.has(token.state);
  }

  push(piece: string): this {
    let i = 0;
    while (i < piece.length && !this.broken) {
      if (this.#token?.kind === "string" && this.#token.escape === "none") {
        const plain = plainRun(piece, i);
        this.#read += plain - i;
        i = plain;
        if (i === piece.length) return this;
      }
      this.broken = !this.#take(piece.charAt(i));
      this.#read++;
      i++;
    }
    return this;
  }

  /** Takes one character; false where it cannot stand there. */
  #take(char: string): boolean {
    const token = this.#token;
    if (token === null) return this.#between(char);
    switch (token.kind) {
      case "string":
        return this.#stringGoesOn(token, char);
      case "number":
        return this.#numberGoesOn(token, char);
      case "literal":
        if (char !== token.word.charAt(token.seen)) return false;
        token.seen++;
        return token.seen < token.word.length || this.#endValue(this.#read + 1);
      default:
        return token satisfies never;
    }
  }

  #stringGoesOn(token: Extract<Token, { kind: "string" }>, char: string): boolean {
    if (token.escape === "begun") {
      token.escape = char === "u" ? 4 : "none";
      return '"\\/bfnrtu'.includes(char);
    }
    if (token.escape !== "none") {
      token.escape = token.escape === 1 ? "none" : token.escape - 1;
      return HEX.test(char);
    }
    if (char === "\\") {
      token.escape = "begun";
      return true;
    }
    if (char !== '"') return false;
    return token.key ? this.#endKey(this.#read + 1) : this.#endValue(this.#read + 1);
  }

  #numberGoesOn(token: Extract<Token, { kind: "number" }>, char: string): boolean {
    const kind = digitOf(char);
    if (kind === null) return ENDS_NUMBER.has(token.state) && this.#endValue(this.#read) && this.#between(char);
    const state = NUMBER[token.state][kind];
    if (state === undefined) return false;
    token.state = state;
    return true;
  }

  #between(char: string): boolean {
    if (char === " " || char === "\n" || char === "\r" || char === "\t") {
      this.blanks++;
      return true;
    }
    this.blanks = 0;
    const frame = this.open.at(-1);
    switch (this.#next) {
      case "value":
        return this.#beginValue(char);
      case "first element":
        return char === "]" ? this.#close() : this.#beginValue(char);
      case "first key":
        return char === "}" ? this.#close() : this.#beginKey(char);
      case "key":
        return this.#beginKey(char);
      case "colon":
        this.#next = "value";
        return char === ":";
      case "more":
        if (char !== ",") return char === (frame?.opener === "{" ? "}" : "]") && this.#close();
        this.#next = frame?.opener === "{" ? "key" : "value";
        return true;
      case "nothing":
        return false;
      default:
        return this.#next satisfies never;
    }
  }

  #beginKey(char: string): boolean {
    const frame = this.open.at(-1);
    if (frame !== undefined) frame.keyStart = this.#read;
    this.#token = { kind: "string", key: true, escape: "none" };
    return char === '"';
  }

  #endKey(end: number): boolean {
    const frame = this.open.at(-1);
    if (frame !== undefined) frame.keyEnd = end;
    this.#token = null;
    this.#next = "colon";
    return true;
  }

  #beginValue(char: string): boolean {
    if (char === "{" || char === "[") {
      this.open.push({ opener: char, count: 0, end: this.#read + 1, keyStart: 0, keyEnd: 0 });
      this.#next = char === "{" ? "first key" : "first element";
      return this.open.length <= MAX_DEPTH;
    }
    this.#token = tokenFrom(char, this.#read);
    return this.#token !== null;
  }

  #close(): boolean {
    this.open.pop();
    return this.#endValue(this.#read + 1);
  }

  #endValue(end: number): boolean {
    this.#token = null;
    const frame = this.open.at(-1);
    this.#next = frame === undefined ? "nothing" : "more";
    if (frame !== undefined) {
      frame.count++;
      frame.end = end;
    }
    return true;
  }
}

function tokenFrom(char: string, start: number): Token | null {
  if (char === '"') return { kind: "string", key: false, escape: "none" };
  if (char === "-") return { kind: "number", state: "minus", start };
  if (char === "0") return { kind: "number", state: "zero", start };
  if (char >= "1" && char <= "9") return { kind: "number", state: "integer", start };
  const word = LITERALS.get(char);
  return word === undefined ? null : { kind: "literal", word, seen: 1 };
}

/** Where, from `from` on, the plain characters of a string end: at a quote, a backslash, a control character, or the end of the piece. */
function plainRun(piece: string, from: number): number {
  let i = from;
  for (; i < piece.length; i++) {
    const code = piece.charCodeAt(i);
    if (code === QUOTE || code === BACKSLASH || code < FIRST_PRINTABLE) break;
  }
  return i;
}

function digitOf(char: string): Digit | null {
  if (char === "0") return "0";
  if (char >= "1" && char <= "9") return "1-9";
  if (char === ".") return ".";
  if (char === "e" || char === "E") return "e";
  return char === "+" || char === "-" ? "sign" : null;
}
