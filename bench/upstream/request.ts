import { isObject } from "../../src/core/json.ts";
import { type ModelName, RECITAL, SCENARIOS } from "../scenarios.ts";

/** What the fake server has to know of a request's body. */
export interface Wanted {
  readonly model: ModelName;
  readonly stream: boolean;
  readonly usage: boolean;
  /** Tokens; null where none was asked. */
  readonly cap: number | null;
  readonly bytes: number;
  /** Characters of the recital that were said already. */
  readonly said: number;
  /** Text of the partial reply to begin with again. */
  readonly again: string;
}

/** Bytes at either end of a body in which the fields beside the messages are looked for, so that a large prompt costs nothing. */
const MARGIN = 4096;

/** @returns null where no scenario has that name */
export function wantedOf(body: Buffer): Wanted | null {
  const ends =
    body.length <= 2 * MARGIN
      ? body.toString("latin1")
      : body.toString("latin1", 0, MARGIN) + body.toString("latin1", body.length - MARGIN);
  const model = /"model": ?"([a-z0-9]+)"/.exec(ends)?.[1] ?? "";
  if (!isModel(model)) return null;
  const cap = /"max_(?:completion_)?tokens": ?(\d+)/.exec(ends)?.[1];
  return {
    model,
    stream: /"stream": ?true/.test(ends),
    usage: /"include_usage": ?true/.test(ends),
    cap: cap === undefined ? null : Number(cap),
    bytes: body.length,
    ...(SCENARIOS[model].continues ? continuation(body.toString("utf8")) : { said: 0, again: "" }),
  };
}

function isModel(name: string): name is ModelName {
  return Object.hasOwn(SCENARIOS, name);
}

/** Where the conversation stands: at a partial reply to be resumed, at one behind which a user turn asks to go on, or at neither. */
function continuation(json: string): { said: number; again: string } {
  const body: unknown = JSON.parse(json);
  const messages: unknown[] = isObject(body) && Array.isArray(body.messages) ? body.messages : [];
  const [before, last] = [roleAndText(messages.at(-2)), roleAndText(messages.at(-1))];
  if (last.role === "assistant") return { said: saidIn(last.text), again: "" };
  if (before.role !== "assistant") return { said: 0, again: "" };
  return { said: saidIn(before.text), again: quotedEnd(last.text, before.text) };
}

/** Characters of the recital that a partial reply holds, be it cut inside of a token; 0 where it is another text. */
function saidIn(partial: string): number {
  return RECITAL.join("").startsWith(partial) ? partial.length : 0;
}

function roleAndText(message: unknown): { role: string; text: string } {
  const { role, content } = isObject(message) ? message : {};
  return { role: typeof role === "string" ? role : "", text: typeof content === "string" ? content : "" };
}

/** The end of the partial reply that the order quotes. */
function quotedEnd(order: string, partial: string): string {
  let length = 0;
  while (length < partial.length && order.includes(partial.slice(partial.length - length - 1))) length++;
  return partial.slice(partial.length - length);
}
