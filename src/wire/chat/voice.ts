import type { Ask } from "../../core/ask.ts";
import type { Failure } from "../../core/error.ts";
import { asObject, isObject, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { callsOf, type Reply, reasoningOf } from "../../core/reply.ts";
import { callsFunctions, Envelope, firstChoice, type Names } from "../openai/envelope.ts";
import { stillOpen } from "../openai/finish.ts";
import { Logprobs } from "../openai/logprobs.ts";
import { dataEvent } from "../sse.ts";
import { freeformNames } from "../tools.ts";
import type { Ending, Frame, Report, Voice } from "../wire.ts";
import { Calls } from "./calls.ts";
import { chatChoice, REASONING_FIELDS, REFUSAL, says } from "./delta.ts";

const NAMES: Names = {
  chunk: "chat.completion.chunk",
  whole: "chat.completion",
  id: "chatcmpl-lastword",
  silence: chatChoice.silence,
};

/** Fields of a delta that parts speak of. */
const SPOKEN = ["content", "refusal", ...REASONING_FIELDS, "tool_calls", "function_call"] as const;

export class ChatVoice implements Voice {
  readonly #envelope: Envelope;
  readonly #functions: boolean;
  readonly #calls: Calls;
  readonly #logprobs = new Logprobs();
  #roleSaid = false;
  /** The fields in which the first pass reasons: later ones use the same. */
  #reasoningFields: readonly string[] = [];

  constructor(ask: Ask, id: string = NAMES.id) {
    this.#envelope = new Envelope({ ...NAMES, id }, ask);
    this.#functions = callsFunctions(ask);
    this.#calls = new Calls(freeformNames(ask.tools));
  }

  opening(frames: readonly Frame[], loses: boolean): string {
    const own = frames.find(({ kind }) => kind === "output")?.json;
    const told = frames.some(({ json }) => asObject(firstChoice(json).delta)?.role !== undefined);
    if (!loses || told || !own) return "";
    this.#envelope.learn(own);
    const delta = { role: "assistant", content: "" };
    return dataEvent(this.#envelope.chunk(null, [{ index: 0, delta, finish_reason: null }]));
  }

  passed(frame: Frame): void {
    if (frame.json === null) return;
    this.#envelope.learn(frame.json);
    const choice = firstChoice(frame.json);
    const delta = asObject(choice.delta) ?? {};
    if (delta.role !== undefined || frame.kind === "output") this.#roleSaid = true;
    this.#learnReasoning(delta);
    this.#logprobs.heard(choice.logprobs, textOf(frame.parts));
    for (const part of frame.parts) if (part.kind === "tool") this.#calls.place(part.block, part.id, part.name);
  }

  named(json: JsonObject): void {
    this.#envelope.learn(json);
  }

  say(parts: readonly Part[], frame: Frame | null): string {
    if (frame?.json) return this.#resaid(parts, frame, frame.json);
    return parts.map((part) => this.#chunk(null, { index: 0, delta: this.#deltaOf([part], {}) }, [part])).join("");
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
    const message = this.#messageOf(asObject(own.message) ?? { role: "assistant" }, ending.reply);
    const choice: JsonObject = { index: 0, ...own, message };
    const logprobs = this.#logprobsOf(first, ending);
    const joined = logprobs.joined(textIn(ending.reply, false));
    if (joined !== null || isObject(own.logprobs)) choice.logprobs = joined;
    return this.#envelope.body(first, choice, ending);
  }

  lacksLogprobs(body: Parameters<NonNullable<Voice["lacksLogprobs"]>>[0]): boolean {
    if (body === null) return this.#logprobs.lacks(null);
    const { first, reply } = body;
    return this.#logprobsOf(first, body).lacks(textIn(reply, false));
  }

  #logprobsOf(first: JsonObject | null, { later = [] }: Pick<Ending, "later">): Logprobs {
    return first === null ? this.#logprobs : heard([first, ...later]);
  }

  stream(body: JsonObject): string {
    return this.#envelope.stream(body, ({ message, ...choice }) => ({
      ...choice,
      delta: { role: "assistant", ...numbered(asObject(message) ?? {}) },
    }));
  }

  /** The upstream's own chunk; only identity, role and what the seam took have changed. */
  #resaid(parts: readonly Part[], frame: Frame, json: JsonObject): string {
    const choice = firstChoice(json);
    const own = asObject(choice.delta) ?? {};
    this.#learnReasoning(own);
    const whole = readsAs(parts, frame.parts);
    const { role, ...delta } = own;
    // A frame without parts holds what no part has (sound, calls of another type): that stays.
    for (const field of SPOKEN) if (says(delta[field]) && frame.parts.length > 0) delete delta[field];
    if (!whole) delete delta.reasoning_details;
    Object.assign(delta, this.#deltaOf(parts, own));
    if (whole && Array.isArray(own.content)) {
      for (const field of REASONING_FIELDS) delete delta[field];
      delta.content = own.content;
    }
    const spoken: JsonObject = { index: 0, ...choice, delta };
    if (isObject(choice.logprobs) && !whole) spoken.logprobs = this.#logprobs.fitted(choice.logprobs, textOf(parts));
    return this.#chunk(json, spoken, parts);
  }

  #chunk(own: JsonObject | null, choice: JsonObject, parts: readonly Part[]): string {
    if (!chatChoice.speaks(choice)) return "";
    const delta = this.#roleSaid ? choice.delta : { role: "assistant", ...asObject(choice.delta) };
    this.#roleSaid = true;
    this.#logprobs.heard(choice.logprobs, textOf(parts));
    return dataEvent(this.#envelope.chunk(own, [stillOpen({ ...choice, delta })]));
  }

  #deltaOf(parts: readonly Part[], own: JsonObject): JsonObject {
    const delta: JsonObject = {};
    const add = (field: string, text: string) => {
      delta[field] = `${delta[field] ?? ""}${text}`;
    };
    const calls: JsonObject[] = [];
    for (const part of parts) {
      if (part.kind === "text") add(part.block === REFUSAL ? "refusal" : "content", part.text);
      else if (part.kind === "reasoning") for (const field of this.#fields()) add(field, part.text);
      else if (part.kind === "tool") calls.push(this.#calls.piece(part, own.tool_calls));
    }
    if (calls.length > 0 && this.#functions) delta.function_call = calls[0]?.function;
    else if (calls.length > 0) delta.tool_calls = calls;
    return delta;
  }

  #learnReasoning(said: JsonObject): void {
    if (this.#reasoningFields.length > 0) return;
    this.#reasoningFields = REASONING_FIELDS.filter((field) => typeof said[field] === "string" && said[field] !== "");
  }

  #fields(): readonly string[] {
    return this.#reasoningFields.length > 0 ? this.#reasoningFields : [REASONING_FIELDS[0]];
  }

  /** The first pass's message, changed only where the joined reply says something else. */
  #messageOf(own: JsonObject, reply: Reply): JsonObject {
    this.#learnReasoning(own);
    const { tool_calls, function_call, ...message } = own;
    const said = chatChoice.said({ message: own });
    const calls = callsOf(reply);
    const text = textIn(reply, false);
    if (text !== textOf(said)) message.content = text;
    else if (message.content === undefined) message.content = text === "" && calls.length > 0 ? null : text;
    const refusal = textIn(reply, true);
    if (refusal !== "") message.refusal = refusal;
    const reasoning = reasoningOf(reply);
    if (reasoning !== said.map((part) => (part.kind === "reasoning" ? part.text : "")).join("")) {
      delete message.reasoning_details;
      for (const field of REASONING_FIELDS) delete message[field];
      if (reasoning !== "") for (const field of this.#fields()) message[field] = reasoning;
    }
    const written = calls.map((call) => this.#calls.whole(call, tool_calls));
    if (written.length > 0 && this.#functions) message.function_call = written[0]?.function;
    else if (written.length > 0) message.tool_calls = written;
    return message;
  }
}

function heard(bodies: readonly JsonObject[]): Logprobs {
  const logprobs = new Logprobs();
  for (const body of bodies) {
    const choice = firstChoice(body);
    logprobs.heard(choice.logprobs, textOf(chatChoice.said(choice)));
  }
  return logprobs;
}

/** Tool calls of a message have no index; those of a delta must. */
function numbered(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message;
  return { ...message, tool_calls: message.tool_calls.map((call, index) => ({ index, ...asObject(call) })) };
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "text" && part.block !== REFUSAL ? part.text : "")).join("");
}

function textIn(reply: Reply, refusal: boolean): string {
  const blocks = reply.blocks.filter((block) => block.kind === "text" && (block.block === REFUSAL) === refusal);
  return blocks.map((block) => block.text).join("");
}

/** Whether all that can be read of some parts is the same. */
function readsAs(some: readonly Part[], others: readonly Part[]): boolean {
  const read = some.filter(isRead);
  const other = others.filter(isRead);
  return (
    read.length === other.length && read.every((part, at) => part.kind === other[at]?.kind && textIs(part, other[at]))
  );
}

function isRead({ kind }: Part): boolean {
  return kind === "text" || kind === "reasoning" || kind === "sealed_reasoning";
}

function textIs(part: Part, other: Part): boolean {
  return !("text" in part && "text" in other) || part.text === other.text;
}
