import type { Piece } from "../core/ask.ts";
import { CLASSES, type TextClass } from "./tokenizer/characters.ts";
import { MEASURE_LENGTH, type Measure } from "./tokenizer/measure.ts";

/**
 * A prompt as numbers that its cost is a sum of: first a text measure (tokens by class, characters by class), then what templates add to.
 * The order is part of saved calibrations.
 */
export type Features = number[];

export const EXTRAS = [
  "messages",
  "calls", // tool calls in the history
  "tools",
  "anyTools", // 1 where there are tools: their introduction
  "toolText", // vocabulary tokens of the tool definitions, once more: templates render them otherwise than JSON
  "schemaText", // vocabulary tokens of the output schema, which is rendered or not
  "request", // 1 where a template is applied: what begins and ends every prompt
] as const;
export type Extra = (typeof EXTRAS)[number];

const FEATURES = MEASURE_LENGTH + EXTRAS.length;

const tokensAt = Object.fromEntries(CLASSES.map((name, i) => [name, i])) as Record<TextClass, number>;
const extraAt = Object.fromEntries(EXTRAS.map((name, i) => [name, MEASURE_LENGTH + i])) as Record<Extra, number>;

/** Place of a class's vocabulary tokens, of its characters, and of an extra. */
export const at = {
  tokens: (of: TextClass): number => tokensAt[of],
  characters: (of: TextClass): number => CLASSES.length + tokensAt[of],
  extra: (of: Extra): number => extraAt[of],
} as const;

export function noFeatures(): Features {
  return new Array<number>(FEATURES).fill(0);
}

/** All vocabulary tokens of a measured text. */
export function tokensOf(measure: Measure): number {
  let sum = 0;
  for (let i = 0; i < CLASSES.length; i++) sum += measure[i] ?? 0;
  return sum;
}

/** The text of a piece that is to be measured; "" where there is none. */
export function textOf(piece: Piece): string {
  switch (piece.kind) {
    case "text":
      return piece.text;
    case "tool_call":
      return piece.name + piece.args;
    case "tool_definition":
    case "schema":
      return piece.json;
    case "tokens":
    case "image":
    case "audio":
    case "file":
      return "";
    default:
      return piece satisfies never;
  }
}

/** Adds what a piece costs. `measure` is that of its text. Pictures, sounds, files and token ids are counted by themselves. */
export function addPiece(features: Features, piece: Piece, measure: Measure): void {
  switch (piece.kind) {
    case "text":
      if (piece.opens) addMessage(features);
      addText(features, measure);
      return;
    case "tool_call":
      add(features, "calls", 1);
      addText(features, measure);
      return;
    case "tool_definition":
      add(features, "tools", 1);
      features[at.extra("anyTools")] = 1;
      features[at.extra("request")] = 1;
      add(features, "toolText", tokensOf(measure));
      addText(features, measure);
      return;
    case "schema":
      add(features, "schemaText", tokensOf(measure));
      return;
    case "tokens":
    case "image":
    case "audio":
    case "file":
      return;
    default:
      piece satisfies never;
  }
}

function addMessage(features: Features): void {
  add(features, "messages", 1);
  features[at.extra("request")] = 1;
}

function addText(features: Features, measure: Measure): void {
  for (let i = 0; i < MEASURE_LENGTH; i++) features[i] = (features[i] ?? 0) + (measure[i] ?? 0);
}

function add(features: Features, extra: Extra, much: number): void {
  const place = at.extra(extra);
  features[place] = (features[place] ?? 0) + much;
}
