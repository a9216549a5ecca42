/** JSON as it stands on a wire. Objects that came from outside are read through these guards and never trusted further. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json | undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function asArray(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A finite number, or undefined. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The parsed text, or undefined where it is not JSON. */
export function parseJson(text: string): Json | undefined {
  if (!endsAsItBegins(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const MOST_BLANKS = 32;

/** Whether the last character can end what the first begins: half an event need not cost an exception, which takes 10 to 50 us. */
function endsAsItBegins(text: string): boolean {
  let from = 0;
  let to = text.length - 1;
  // More blanks than that are for the parser, which is faster at them.
  while (from < MOST_BLANKS && isBlank(text.charCodeAt(from))) from++;
  while (to > from && to > text.length - MOST_BLANKS && isBlank(text.charCodeAt(to))) to--;
  if (isBlank(text.charCodeAt(from)) || isBlank(text.charCodeAt(to))) return true;
  const last = text.charAt(to);
  switch (text.charAt(from)) {
    case "":
      return false;
    case "{":
      return last === "}" && to > from;
    case "[":
      return last === "]" && to > from;
    case '"':
      return last === '"' && to > from;
    default:
      return true;
  }
}

/** Space, tab, line feed, carriage return: JSON's own blanks. */
function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
