import type { Ask } from "../../core/ask.ts";
import type { Failure } from "../../core/error.ts";
import { asArray, asObject, isObject, type JsonObject } from "../../core/json.ts";
import { lastwordOf } from "../report.ts";
import { DONE, dataEvent, eventOf } from "../sse.ts";
import type { Ending, Frame, Report } from "../wire.ts";
import { errorObject } from "./error.ts";
import { finishOf, wordOf } from "./finish.ts";
import { usageObject } from "./usage.ts";

/** By these a client tells one reply from another: the first pass's stand on everything that later passes say. */
const IDENTITY = ["id", "created", "model", "system_fingerprint", "service_tier", "provider"] as const;

/** What is the same in both names of one thing: `chat.completion` and its chunks. */
export interface Kind {
  /** `object` of a chunk, of a body. */
  readonly chunk: string;
  readonly whole: string;
  /** Where no upstream gave an id. */
  readonly id: string;
  /** What a choice holds that says nothing. */
  readonly silence: JsonObject;
}

/** All around the choices of a reply on the chat and completions wires: identity, finish, usage, errors, terminal event. */
export class Envelope {
  readonly #kind: Kind;
  readonly #ask: Ask;
  #identity: JsonObject | null = null;

  constructor(kind: Kind, ask: Ask) {
    this.#kind = kind;
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
    return this.#around(own, this.#kind.chunk, choices);
  }

  /** A body with these choices. */
  body(own: JsonObject | null, choices: JsonObject[]): JsonObject {
    return this.#around(own, this.#kind.whole, choices);
  }

  /** Finish, usage if it was asked for, terminal event. */
  finish(ending: Ending): string {
    const own = ending.tail.find(finishes)?.json ?? null;
    const choice = asObject(asArray(own?.choices)[0]) ?? {};
    const closing = this.chunk(own, [closed({ index: 0, ...choice, ...this.#kind.silence }, this.word(ending))]);
    if (ending.report !== null) closing.lastword = lastwordOf(ending.report);
    return dataEvent(closing) + this.#usage(ending) + DONE;
  }

  /** The finish in this wire's words. */
  word(ending: Ending): string {
    const { functions, tools } = this.#ask.body;
    return wordOf(ending.finish, functions !== undefined && tools === undefined);
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

  /** Finish, usage and terminal event of a plain body that is told as a stream. */
  closeBody(body: JsonObject): string {
    const { usage, lastword, ...rest } = body;
    const ends = asArray(body.choices)
      .filter(isObject)
      .map((choice, position) => {
        const finish = finishOf(choice, body);
        return closed({ index: position, ...kept(choice), ...this.#kind.silence }, finish?.raw ?? "stop");
      });
    let all = "";
    ends.forEach((choice, i) => {
      const last = i === ends.length - 1 && lastword !== undefined ? { lastword } : {};
      all += dataEvent({ ...this.chunk(rest, [choice]), ...last });
    });
    if (this.#ask.wantsUsage && isObject(usage)) all += dataEvent({ ...this.chunk(null, []), usage });
    return all + DONE;
  }

  #usage(ending: Ending): string {
    if (!this.#ask.wantsUsage || ending.usage === null) return "";
    const own = ending.tail.find((frame) => frame.usageOnly)?.json ?? null;
    return dataEvent({ ...this.chunk(own, []), usage: usageObject(ending.usage) });
  }

  #around(own: JsonObject | null, object: string, choices: JsonObject[]): JsonObject {
    if (own !== null) this.learn(own);
    const { id, model } = { id: this.#kind.id, model: this.#ask.model };
    if (own === null) return { id, object, created: 0, model, ...this.#identity, choices };
    const { usage, error, obfuscation, ...rest } = own;
    return { ...rest, object, ...this.#identity, choices };
  }
}

function finishes(frame: Frame): boolean {
  return frame.parts.some((part) => part.kind === "finish");
}

/** Words beside a finish reason that is no longer the upstream's own would contradict it. */
function closed(choice: JsonObject, word: string): JsonObject {
  if (choice.finish_reason === word) return choice;
  const { native_finish_reason, done_reason, stop_reason, ...rest } = choice;
  return { ...rest, finish_reason: word };
}

function kept(choice: JsonObject): JsonObject {
  const { message, text, logprobs, ...rest } = choice;
  return rest;
}
