import type { Piece } from "../core/ask.ts";
import { familyOf } from "./families.ts";
import { mostImageTokens } from "./images.ts";

/** Tokens that a template adds at most, beyond what the JSON of the request spends on the same (keys, quotes, commas). */
const PER_MESSAGE = 16;
const PER_CALL = 48;
const PER_TOOLS = 600;
/** Default system texts of templates are the largest part of it. */
const PER_REQUEST = 512;
/** A tool definition is indented at most to four times its length. */
const INDENTED = 3;
/** Arguments get a blank after every comma and colon. */
const SPACED = 0.5;
/** Sound: tokens per byte, at 8 kbit/s. Files: a token per byte of their text, and pages may be shown as pictures too. */
const PER_AUDIO_BYTE = 0.03;
const PER_FILE_BYTE = 1;

/**
 * An upper limit of the prompt's tokens without reading it: every vocabulary in use spends at most a token per UTF-8 byte, and the request's JSON
 * is at least as long as the text in it. Pictures are taken out and counted by the model's dearest rule.
 *
 * @param bodyBytes length of the request's JSON in UTF-8
 */
export function ceiling(pieces: readonly Piece[], bodyBytes: number, model: string): number {
  let media = 0;
  for (const piece of pieces) {
    if (piece.kind === "image") media += mostImageTokens(model);
    else if (piece.kind === "audio") media += PER_AUDIO_BYTE * piece.base64.length;
    else if (piece.kind === "file") media += PER_FILE_BYTE * piece.base64.length;
  }
  return textCeiling(pieces, bodyBytes, model) + Math.ceil(media);
}

/** The same of all but pictures, sounds and files. */
export function textCeiling(pieces: readonly Piece[], bodyBytes: number, model: string): number {
  let tokens = bodyBytes;
  let anyMessage = false;
  let anyTool = false;
  for (const piece of pieces) {
    switch (piece.kind) {
      case "text":
        if (piece.opens) {
          tokens += PER_MESSAGE;
          anyMessage = true;
        }
        break;
      case "tool_call":
        tokens += PER_CALL + SPACED * piece.args.length;
        break;
      case "tool_definition":
        tokens += INDENTED * piece.json.length;
        anyTool = true;
        break;
      case "image":
        tokens -= piece.url.length;
        break;
      case "audio":
      case "file":
        tokens -= piece.base64.length;
        break;
      case "tokens":
      case "schema":
        break;
      default:
        piece satisfies never;
    }
  }
  if (anyTool) tokens += PER_TOOLS;
  if (anyMessage || anyTool) tokens += requestAtMost(model);
  return Math.ceil(Math.max(0, tokens));
}

/** What is known of a family's template is narrower than what may be. */
function requestAtMost(model: string): number {
  const { nearness, template } = familyOf(model);
  const [mean, spread] = template.request;
  return nearness === "unknown" ? PER_REQUEST : Math.ceil(mean + 8 * spread);
}
