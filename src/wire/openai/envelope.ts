import type { Ask } from "../../core/ask.ts";
import type { Failure } from "../../core/error.ts";
import { asArray, asObject, asString, isObject, type JsonObject } from "../../core/json.ts";
import { lastwordOf } from "../report.ts";
import { DONE, dataEvent, eventOf } from "../sse.ts";
import type { Ending, Frame, Report } from "../wire.ts";
import { errorObject } from "./error.ts";
import { stillOpen, wordOf } from "./finish.ts";
import { usageObject } from "./usage.ts";

/** By these a client tells one reply from another: the first pass's stand on everything that later passes say. */
const IDENTITY = ["id", "created", "model", "system_fingerprint", "service_tier", "provider"] as const;

/** The names of one wire's things. */
export interface Names {
  /** `object` of a chunk, of a body. */
  readonly chunk: string;
  readonly whole: string;
  /** Id of a reply to which no upstream gave one. */
  readonly id: string;
  /** What a choice holds that says nothing. */
  readonly silence: JsonObject;
}

/** All around the choices of a reply on the chat and completions wires: identity, finish, usage, errors, terminal event. */
export class Envelope {
  readonly #names: Names;
  readonly #ask: Ask;
  #identity: JsonObject | null = null;

  constructor(names: Names, ask: Ask) {
    this.#names = names;
    this.#ask = ask;
  }

  /** The first chunk or body heard gives the reply its identity. */
  learn(json: JsonObject): void {
    if (this.#identity !== null || !Array.isArray(json.choices)) return;
    this.#identity = {};
    for (const field of IDENTITY) if (json[field] !== undefined) this.#identity[field] = json[field];
  }

  /** A chunk with these choices; `own` is the upstream's, whose unknown fields survive. */
  chunk(own: JsonObject | null, choices: JsonObject[]): JsonObject {
    return this.#around(own, this.#names.chunk, choices);
  }

  /** Finish, usage if it was asked for, terminal event. */
  finish(ending: Ending): string {
    const own = ending.tail.find(finishes)?.json ?? null;
    const { logprobs, ...choice } = firstChoice(own);
    const quiet = {
      index: 0,
      ...choice,
      ...this.#names.silence,
      ...(logprobs === undefined ? {} : { logprobs: null }),
    };
    const closing = this.chunk(own, [this.#closed(quiet, ending)]);
    if (ending.report !== null) closing.lastword = lastwordOf(ending.report);
    return dataEvent(closing) + this.#usage(ending) + DONE;
  }

  fail(failure: Failure): string {
    return dataEvent(errorObject(failure)) + DONE;
  }

  /** The object goes on the finish, or where none came on the last chunk that there is. */
  annotate(tail: readonly Frame[], report: Report): string {
    const on = tail.find(finishes) ?? tail.findLast((frame) => frame.json !== null);
    const told = (frame: Frame) =>
      frame === on ? dataEvent({ ...frame.json, lastword: lastwordOf(report) }) : eventOf(frame);
    return tail.map(told).join("");
  }

  /** The first pass's body with this as its one choice, and everything else joined. */
  body(first: JsonObject | null, choice: JsonObject, ending: Ending): JsonObject {
    const body = this.#around(first, this.#names.whole, [this.#closed(choice, ending)]);
    if (ending.usage !== null) body.usage = usageObject(ending.usage);
    else if (first?.usage !== undefined) body.usage = first.usage;
    if (ending.report !== null) body.lastword = lastwordOf(ending.report);
    return body;
  }

  /** A plain body as a stream: each choice's output, each one's finish, usage if it was asked for. `said` makes a choice a chunk's. */
  stream(body: JsonObject, said: (choice: JsonObject) => JsonObject): string {
    const { usage, lastword, ...rest } = body;
    const choices = asArray(body.choices)
      .filter(isObject)
      .map((choice, index) => ({ index, ...choice }));
    let all = "";
    for (const choice of choices) all += dataEvent(this.chunk(rest, [stillOpen(said(choice))]));
    choices.forEach((choice, i) => {
      const { logprobs, ...kept } = said(choice);
      const closing = this.chunk(rest, [{ ...kept, ...this.#names.silence, finish_reason: ended(choice) }]);
      if (lastword !== undefined && i === choices.length - 1) closing.lastword = lastword;
      all += dataEvent(closing);
    });
    if (this.#ask.wantsUsage && isObject(usage)) all += dataEvent({ ...this.chunk(null, []), usage });
    return all + DONE;
  }

  #usage(ending: Ending): string {
    if (!this.#ask.wantsUsage || ending.usage === null) return "";
    const own = ending.tail.find((frame) => frame.usageOnly)?.json ?? null;
    return dataEvent({ ...this.chunk(own, []), usage: usageObject(ending.usage) });
  }

  /** Words beside a finish that is no longer the upstream's own would contradict it. */
  #closed(choice: JsonObject, ending: Ending): JsonObject {
    const word = wordOf(ending.finish, callsFunctions(this.#ask));
    return choice.finish_reason === word ? choice : { ...stillOpen(choice), finish_reason: word };
  }

  #around(own: JsonObject | null, object: string, choices: JsonObject[]): JsonObject {
    if (own !== null) this.learn(own);
    const nameless = { id: this.#names.id, object, created: 0, model: this.#ask.model };
    if (own === null) return { ...nameless, ...this.#identity, choices };
    // These are of one pass, and x_groq repeats its usage.
    const { usage, error, obfuscation, x_groq, ...rest } = own;
    return { ...rest, object, ...this.#identity, choices };
  }
}

/** The client speaks of functions, as they were before tools. */
export function callsFunctions(ask: Ask): boolean {
  return ask.body.functions !== undefined && ask.body.tools === undefined;
}

export function firstChoice(json: JsonObject | null): JsonObject {
  return asObject(asArray(json?.choices)[0]) ?? {};
}

function finishes(frame: Frame): boolean {
  return frame.parts.some((part) => part.kind === "finish");
}

/** A plain body is whole, whatever it says or does not say of its finish. */
function ended(choice: JsonObject): string {
  const word = asString(choice.finish_reason) ?? "";
  if (word !== "") return word;
  return asArray(asObject(choice.message)?.tool_calls).length > 0 ? "tool_calls" : "stop";
}
