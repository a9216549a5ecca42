import type { Piece } from "../core/ask.ts";
import { imageCost, type MediaCost } from "./images.ts";

type Media = Extract<Piece, { kind: "image" | "audio" | "file" }>;

/** Tokens per second of sound (OpenAI's audio models: about 10 for what is heard). */
const AUDIO_TOKENS = 10;
/** Bytes per second: of plain PCM at 16 kHz, and of what is usual for everything that is compressed. */
const PCM_BYTES = 32_000;
const COMPRESSED_BYTES = 12_000;
/** A token of text takes a few bytes, in a PDF far more: fonts and pictures stand beside the text. */
const FILE_BYTES = 20;

/** What a picture, a sound or a file costs. Only pictures have a rule to go by; the bounds of the others say so. */
export function mediaCost(piece: Media, model: string): MediaCost {
  switch (piece.kind) {
    case "image":
      return imageCost(piece.url, piece.detail, model);
    case "audio": {
      const perSecond = piece.format === "wav" || piece.format.startsWith("pcm") ? PCM_BYTES : COMPRESSED_BYTES;
      const tokens = Math.ceil((bytesOf(piece.base64) / perSecond) * AUDIO_TOKENS);
      return { tokens, bound: 2 * tokens + 10 };
    }
    case "file": {
      const tokens = Math.ceil(bytesOf(piece.base64) / FILE_BYTES);
      return { tokens, bound: 3 * tokens + 10 };
    }
    default:
      return piece satisfies never;
  }
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
