/** How much a JSON text may hold besides long strings, which cost next to nothing. All far beyond what any request needs. */
export const BOUNDS = {
  /** Nested values: readers and writers of JSON recurse. */
  depth: 512,
  /** Objects and arrays. */
  containers: 65_536,
  /** Values, counted by commas and colons. */
  values: 2_000_000,
  /** Short strings that differ: the parser makes each unique (0.5 to 4 us). */
  names: 16_384,
} as const;

type Bounds = Readonly<Record<keyof typeof BOUNDS, number>>;

/**
 * The same of a reply, which comes from a server that was chosen and was paid for: log probabilities are an object and a list for each
 * of up to twenty candidates of a token, each candidate a short string.
 */
export const REPLY_BOUNDS: Bounds = { ...BOUNDS, containers: 524_288, names: 65_536 };

/** Bytes: what is smaller has no room for anything of that. */
const SMALL = 4_096;
/** V8 makes names of all keys, and of values shorter than this. */
const SHORT = 10;
/** Beyond this many bytes of a string, a search is faster than a look at every byte. */
const LONG = 48;
/** Bits in which names are noted by their hash; few of the names fall together. */
const NOTES = 1 << 18;

const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Which bound a JSON text is beyond, so that parsing and writing it could hold up everything else; null: it is bearable.
 * Looks at bytes only, about 1 ns each outside of long strings. What is not JSON is not found out here.
 */
export function unbearable(json: Buffer, bounds: Bounds = BOUNDS): keyof typeof BOUNDS | null {
  if (json.length < SMALL) return null;
  const names = new Names();
  let depth = 0;
  let containers = 0;
  let values = 0;
  const { length } = json;
  for (let at = 0; at < length; at++) {
    const byte = json[at] ?? 0;
    if (byte <= SPACE) continue;
    if (byte === COMMA || byte === COLON) {
      if (++values > bounds.values) return "values";
    } else if (byte === QUOTE) {
      const end = endOfString(json, at + 1);
      if (end - at - 1 < SHORT || isKey(json, end + 1)) names.note(json, at + 1, end);
      if (names.count > bounds.names) return "names";
      at = end;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (++depth > bounds.depth) return "depth";
      if (++containers > bounds.containers) return "containers";
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
  }
  return null;
}

/** The offset of the quote that ends a string; the text's end where there is none. */
function endOfString(json: Buffer, from: number): number {
  let at = from;
  let near = Math.min(from + LONG, json.length);
  for (;;) {
    for (; at < near; at++) {
      const byte = json[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
    if (at >= json.length) return json.length;
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) return json.length;
    let backslashes = 0;
    while (quote - 1 - backslashes >= at && json[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
    // Where escapes are dense, a search for each would cost more than a look at every byte.
    at = quote + 1;
    near = Math.min(at + 16 * LONG, json.length);
  }
}

function isKey(json: Buffer, from: number): boolean {
  let at = from;
  while (json[at] === 0x20 || json[at] === 0x0a || json[at] === 0x0d || json[at] === 0x09) at++;
  return json[at] === COLON;
}

/** Counts strings that differ, by their hashes: a few too few, never too many. */
class Names {
  count = 0;
  #seen: Uint8Array | null = null;

  note(json: Buffer, from: number, to: number): void {
    this.#seen ??= new Uint8Array(NOTES / 8);
    let hash = 0x811c9dc5;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (json[at] ?? 0), 0x01000193);
    const bit = (hash ^ (hash >>> 15)) & (NOTES - 1);
    const seen = this.#seen[bit >> 3] ?? 0;
    if ((seen & (1 << (bit & 7))) !== 0) return;
    this.#seen[bit >> 3] = seen | (1 << (bit & 7));
    this.count++;
  }
}
