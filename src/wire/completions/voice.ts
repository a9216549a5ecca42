import type { Ask } from "../../core/ask.ts";
import type { Failure } from "../../core/error.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { textOf } from "../../core/reply.ts";
import { Envelope, firstChoice, type Names } from "../openai/envelope.ts";
import { stillOpen } from "../openai/finish.ts";
import { Logprobs } from "../openai/logprobs.ts";
import { dataEvent } from "../sse.ts";
import type { Ending, Frame, Report, Voice } from "../wire.ts";
import { textChoice } from "./choice.ts";

const NAMES: Names = {
  chunk: "text_completion",
  whole: "text_completion",
  id: "cmpl-lastword",
  silence: textChoice.silence,
};

export class CompletionsVoice implements Voice {
  readonly #envelope: Envelope;
  readonly #logprobs = new Logprobs();

  constructor(ask: Ask, id: string = NAMES.id) {
    this.#envelope = new Envelope({ ...NAMES, id }, ask);
  }

  /** Nothing opens a completion. */
  opening(): string {
    return "";
  }

  passed(frame: Frame): void {
    if (frame.json === null) return;
    this.#envelope.learn(frame.json);
    this.#logprobs.heard(firstChoice(frame.json).logprobs, spoken(frame.parts));
  }

  named(json: JsonObject): void {
    this.#envelope.learn(json);
  }

  say(parts: readonly Part[], frame: Frame | null): string {
    const text = spoken(parts);
    if (text === "") return "";
    const own = firstChoice(frame?.json ?? null);
    const choice: JsonObject = { index: 0, ...own, text };
    if (isObject(own.logprobs)) choice.logprobs = this.#logprobs.fitted(own.logprobs, text);
    this.#logprobs.heard(choice.logprobs, text);
    return dataEvent(this.#envelope.chunk(frame?.json ?? null, [stillOpen(choice)]));
  }

  finish(ending: Ending): string {
    return this.#envelope.finish(ending);
  }

  fail(failure: Failure): string {
    return this.#envelope.fail(failure);
  }

  annotate(tail: readonly Frame[], report: Report): string {
    return this.#envelope.annotate(tail, report);
  }

  body(first: JsonObject | null, ending: Ending): JsonObject {
    const own = firstChoice(first);
    const text = textOf(ending.reply);
    const choice: JsonObject = { index: 0, ...own, text };
    const logprobs = this.#logprobsOf(first, ending);
    const joined = logprobs.joined(text);
    if (joined !== null || isObject(own.logprobs)) choice.logprobs = joined;
    return this.#envelope.body(first, choice, ending);
  }

  lacksLogprobs(body: Parameters<NonNullable<Voice["lacksLogprobs"]>>[0]): boolean {
    if (body === null) return this.#logprobs.lacks(null);
    const { first, reply } = body;
    return this.#logprobsOf(first, body).lacks(textOf(reply));
  }

  #logprobsOf(first: JsonObject | null, { later = [] }: Pick<Ending, "later">): Logprobs {
    return first === null ? this.#logprobs : heard([first, ...later]);
  }

  stream(body: JsonObject): string {
    return this.#envelope.stream(body, (choice) => choice);
  }
}

function spoken(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

function heard(bodies: readonly JsonObject[]): Logprobs {
  const logprobs = new Logprobs();
  for (const body of bodies) {
    const choice = firstChoice(body);
    const text = spoken(textChoice.said(choice));
    logprobs.heard(isObject(choice.logprobs) ? logprobs.fitted(choice.logprobs, text) : null, text);
  }
  return logprobs;
}
