import type { JsonObject } from "../core/json.ts";
import type { Frame } from "./wire.ts";

/** One whole event of the chat and completions wires. */
export function dataEvent(json: JsonObject): string {
  return `data: ${JSON.stringify(json)}\n\n`;
}

/** One whole event of the wires whose events bear the name of their type. */
export function namedEvent(json: JsonObject): string {
  return `event: ${json.type}\n${dataEvent(json)}`;
}

/** A frame as the event it came from. */
export function eventOf(frame: Frame): string {
  const name = frame.event === "" ? "" : `event: ${frame.event}\n`;
  return `${name}data: ${frame.data.replaceAll("\n", "\ndata: ")}\n\n`;
}

/** The terminal event of the chat and completions wires. */
export const DONE = "data: [DONE]\n\n";
