/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Tokens of one picture, sound or file: what is expected, give or take `bound`. */
export interface MediaCost {
  readonly tokens: number;
  readonly bound: number;
}

type Detail = "low" | "high" | "auto";

/** How a model cuts a picture into tokens. */
type Rule =
  /** Scaled into 2048 square, then to a short side of 768; `tile` per 512 square, and `base`. Low detail: `base`. */
  | { readonly kind: "tiles"; readonly base: number; readonly tile: number }
  /** Squares of `side` pixels, at most `most`, times `factor`. */
  | { readonly kind: "patches"; readonly side: number; readonly most: number; readonly factor: number }
  /** The same for every picture. */
  | { readonly kind: "fixed"; readonly tokens: number };

/**
 * First match wins, on the model's name. Sources: OpenAI's guide to images, community measurements for the small gpt-5 models, Ollama's
 * own prompt check (768), the published processors of Gemma 3 (256) and Qwen-VL (28 pixel squares). To add a model: a row here.
 */
const RULES: readonly { readonly match: RegExp; readonly rule: Rule }[] = [
  { match: /gpt-4o-mini/, rule: { kind: "tiles", base: 2833, tile: 5667 } },
  { match: /gpt-4\.1-mini/, rule: { kind: "patches", side: 32, most: 1536, factor: 1.62 } },
  { match: /gpt-4\.1-nano/, rule: { kind: "patches", side: 32, most: 1536, factor: 2.46 } },
  { match: /o4-mini|codex-mini/, rule: { kind: "patches", side: 32, most: 1536, factor: 1.72 } },
  { match: /gpt-5[^/]*-nano/, rule: { kind: "patches", side: 32, most: 1536, factor: 1.5 } },
  { match: /gpt-5[^/]*-mini|gpt-5\.[2-9]/, rule: { kind: "patches", side: 32, most: 1536, factor: 1.2 } },
  { match: /gpt-4o|gpt-4\.[15]|gpt-4-turbo|gpt-4-vision/, rule: { kind: "tiles", base: 85, tile: 170 } },
  { match: /(^|\/)o[13](-|$)/, rule: { kind: "tiles", base: 75, tile: 150 } },
  { match: /gpt-5/, rule: { kind: "tiles", base: 70, tile: 140 } },
  { match: /gemma-?3/, rule: { kind: "fixed", tokens: 260 } },
  { match: /qwen[^/]*vl|qwen3\.5/, rule: { kind: "patches", side: 28, most: 16_384, factor: 1 } },
];

/** Where nothing is known of the model: between a fixed 256 and what a large picture costs elsewhere. */
const UNKNOWN: MediaCost = { tokens: 1105, bound: 3000 };
/** The most that a picture costs under any rule above but the dearest model's, in tokens. */
const MOST_UNKNOWN = 16_384;
/** A picture of which only the address is known. */
const UNSEEN: Size = { width: 1024, height: 1024 };

/** What a picture costs `model`. Its size is read from the header of the data, which is never decoded whole. */
export function imageCost(url: string, detail: Detail, model: string): MediaCost {
  const rule = ruleOf(model);
  if (rule === null) return UNKNOWN;
  const size = sizeOf(url);
  const tokens = tokensUnder(rule, size ?? UNSEEN, detail);
  // Of a picture somewhere else nothing is known but that the rule has a maximum; rules themselves are off by a few tokens.
  return { tokens, bound: size === null && rule.kind !== "fixed" ? mostUnder(rule) - 1 : Math.ceil(tokens * 0.1) + 4 };
}

/** The most that one picture can cost `model`. */
export function mostImageTokens(model: string): number {
  const rule = ruleOf(model);
  return rule === null ? MOST_UNKNOWN : Math.ceil(mostUnder(rule) * 1.1) + 4;
}

function ruleOf(model: string): Rule | null {
  const name = model.slice(-200).toLowerCase();
  return RULES.find(({ match }) => match.test(name))?.rule ?? null;
}

function tokensUnder(rule: Rule, size: Size, detail: Detail): number {
  switch (rule.kind) {
    case "fixed":
      return rule.tokens;
    case "tiles":
      return detail === "low" ? rule.base : rule.base + rule.tile * tilesOf(size);
    case "patches": {
      const patches = Math.ceil(size.width / rule.side) * Math.ceil(size.height / rule.side);
      return Math.ceil(Math.max(1, Math.min(patches, rule.most)) * rule.factor);
    }
    default:
      return rule satisfies never;
  }
}

/** A short side of 768 within 2048: two tiles by four. */
const MOST_TILES = 8;

function mostUnder(rule: Rule): number {
  switch (rule.kind) {
    case "fixed":
      return rule.tokens;
    case "tiles":
      return rule.base + rule.tile * MOST_TILES;
    case "patches":
      return Math.ceil(rule.most * rule.factor);
    default:
      return rule satisfies never;
  }
}

/** Pictures are only ever scaled down. */
function tilesOf({ width, height }: Size): number {
  const into2048 = Math.min(1, 2048 / Math.max(width, height, 1));
  const short = Math.min(width, height) * into2048;
  const scale = into2048 * Math.min(1, 768 / Math.max(short, 1));
  return Math.max(1, Math.ceil((width * scale) / 512)) * Math.max(1, Math.ceil((height * scale) / 512));
}

/** Base64 characters looked at: a JPEG may carry a preview and colour profiles before its frame. */
const HEADER = 65_536;

/** The size of a picture in a data URL (PNG, JPEG, GIF or WebP) or in bare base64; null where it cannot be read. */
export function sizeOf(url: string): Size | null {
  const data = url.startsWith("data:") ? url.indexOf(",") + 1 : /^[a-z]+:/i.test(url.slice(0, 16)) ? -1 : 0;
  if (data < 0 || (data === 0 && url.startsWith("data:"))) return null;
  const bytes = decode(url.slice(data, data + HEADER));
  const size = pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes);
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

function decode(base64: string): Uint8Array {
  try {
    const whole = base64.slice(0, base64.length - (base64.length % 4));
    return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}

function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** A number of `length` bytes, the highest first. */
function big(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = 0; i < length; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

/** A number of `length` bytes, the lowest first. */
function little(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

function pngSize(bytes: Uint8Array): Size | null {
  if (!startsWith(bytes, "\x89PNG") || bytes.length < 24) return null;
  return { width: big(bytes, 16, 4), height: big(bytes, 20, 4) };
}

function gifSize(bytes: Uint8Array): Size | null {
  if (!startsWith(bytes, "GIF8") || bytes.length < 10) return null;
  return { width: little(bytes, 6, 2), height: little(bytes, 8, 2) };
}

/** Lossy, lossless and extended files keep their size in three different ways. */
function webpSize(bytes: Uint8Array): Size | null {
  if (!startsWith(bytes, "RIFF") || !startsWith(bytes, "WEBP", 8) || bytes.length < 30) return null;
  if (startsWith(bytes, "VP8X", 12)) return { width: little(bytes, 24, 3) + 1, height: little(bytes, 27, 3) + 1 };
  if (startsWith(bytes, "VP8L", 12)) {
    const bits = little(bytes, 21, 4);
    return { width: (bits % 0x4000) + 1, height: (Math.floor(bits / 0x4000) % 0x4000) + 1 };
  }
  return { width: little(bytes, 26, 2) % 0x4000, height: little(bytes, 28, 2) % 0x4000 };
}

/** Walks the segments up to the start of a frame: the markers C0 to CF but C4, C8 and CC. */
function jpegSize(bytes: Uint8Array): Size | null {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { height: big(bytes, at + 5, 2), width: big(bytes, at + 7, 2) };
    // Fill bytes may stand before a marker.
    at += marker === 0xff ? 1 : 2 + big(bytes, at + 2, 2);
  }
  return null;
}
