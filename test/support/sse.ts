import type { JsonObject } from "../../src/core/json.ts";

export interface SseEvent {
  /** "" where the event named none. */
  readonly event: string;
  readonly data: string;
}

/** One whole SSE event, lines ended by LF. */
export function sse(data: string | JsonObject, event = ""): string {
  const payload = typeof data === "string" ? data : JSON.stringify(data);
  const lines = payload.split("\n").map((line) => `data: ${line}\n`);
  return `${event === "" ? "" : `event: ${event}\n`}${lines.join("")}\n`;
}

/** The events of a whole body, by the rules of the HTML standard. An event without its blank line is dropped. */
export function readSse(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  let event = "";
  let data: string[] = [];
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  lines.pop(); // what follows the last line end is not a line yet
  for (const line of lines) {
    if (line === "") {
      if (data.length > 0) events.push({ event, data: data.join("\n") });
      event = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    if (field === "data") data.push(value);
  }
  return events;
}
