import type { Ask } from "../../core/ask.ts";
import type { Failure } from "../../core/error.ts";
import { asArray, asNumber, asObject, isObject, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { type Block, callsOf, type Reply, reasoningOf } from "../../core/reply.ts";
import { Envelope, type Kind } from "../openai/envelope.ts";
import { joinLogprobs, runOf } from "../openai/logprobs.ts";
import { usageObject } from "../openai/usage.ts";
import { lastwordOf } from "../report.ts";
import { dataEvent } from "../sse.ts";
import type { Ending, Frame, Report, Voice } from "../wire.ts";
import { CONTENT, chatChoice, REASONING_FIELDS, REFUSAL } from "./delta.ts";

const KIND: Kind = {
  chunk: "chat.completion.chunk",
  whole: "chat.completion",
  id: "chatcmpl-lastword",
  silence: chatChoice.silence,
};

type Tool = Extract<Part, { kind: "tool" }>;

export class ChatVoice implements Voice {
  readonly #envelope: Envelope;
  readonly #legacy: boolean;
  #roleSaid = false;
  /** The fields in which the first pass reasons. */
  #reasoningFields: readonly string[] = [];
  #logprobs: JsonObject[] = [];
  readonly #calls = new Calls();

  constructor(ask: Ask) {
    this.#envelope = new Envelope(KIND, ask);
    this.#legacy = ask.body.functions !== undefined && ask.body.tools === undefined;
  }

  passed(frame: Frame): void {
    if (frame.json === null) return;
    this.#envelope.learn(frame.json);
    const choice = asObject(asArray(frame.json.choices)[0]) ?? {};
    const delta = asObject(choice.delta) ?? {};
    if (delta.role !== undefined) this.#roleSaid = true;
    this.#learnReasoning(delta);
    if (isObject(choice.logprobs)) this.#logprobs.push(choice.logprobs);
    for (const part of frame.parts) if (part.kind === "tool") this.#calls.place(part);
  }

  say(parts: readonly Part[], frame: Frame | null): string {
    if (frame?.json) return this.#resay(parts, frame, frame.json);
    let all = "";
    for (const part of parts) {
      const delta = this.#deltaOf([part]);
      if (Object.keys(delta).length > 0) all += this.#chunk(null, { index: 0, delta, finish_reason: null });
    }
    return all;
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
    const own = asObject(asArray(first?.choices)[0]) ?? { index: 0 };
    const ownMessage = asObject(own.message) ?? { role: "assistant" };
    const word = this.#envelope.word(ending);
    const { native_finish_reason, done_reason, stop_reason, ...rest } = own;
    const choice: JsonObject = {
      ...(own.finish_reason === word ? own : rest),
      message: this.#messageOf(ownMessage, ending.reply),
      finish_reason: word,
    };
    const passes = first === null ? this.#logprobs : [own, ...(ending.later ?? []).map(firstChoice)].map(logprobsIn);
    if (passes.length > (first === null ? 0 : 1)) choice.logprobs = joinLogprobs(passes, textIn(ending.reply, CONTENT));
    const body = this.#envelope.body(first, [choice]);
    if (ending.usage !== null) body.usage = usageObject(ending.usage);
    else if (first?.usage !== undefined) body.usage = first.usage;
    if (ending.report !== null) body.lastword = lastwordOf(ending.report);
    return body;
  }

  stream(body: JsonObject): string {
    const { usage, lastword, ...rest } = body;
    let all = "";
    asArray(body.choices).forEach((value, position) => {
      const { message, finish_reason, ...choice } = asObject(value) ?? {};
      const delta = { role: "assistant", ...streamed(asObject(message) ?? {}) };
      all += dataEvent(this.#envelope.chunk(rest, [{ index: position, ...choice, delta, finish_reason: null }]));
    });
    return all + this.#envelope.closeBody(body);
  }

  /** The upstream's own chunk with only identity, role and what the seam trimmed changed. */
  #resay(parts: readonly Part[], frame: Frame, json: JsonObject): string {
    const choice = asObject(asArray(json.choices)[0]) ?? { index: 0 };
    const delta = asObject(choice.delta) ?? {};
    this.#learnReasoning(delta);
    const said = this.#deltaOf(parts);
    const same = sameText(parts, frame.parts);
    const {
      role,
      content,
      refusal,
      reasoning,
      reasoning_content,
      reasoning_details,
      tool_calls,
      function_call,
      ...rest
    } = delta;
    const patched: JsonObject = { ...rest, ...said };
    if (same && Array.isArray(content)) Object.assign(withoutReasoning(patched), { content });
    if (same && reasoning_details !== undefined) patched.reasoning_details = reasoning_details;
    for (const call of asArray(patched.tool_calls)) if (isObject(call)) Object.assign(call, extras(call, tool_calls));
    if (!chatChoice.speaks({ delta: patched })) return "";
    const spoken: JsonObject = { ...choice, delta: patched, finish_reason: null };
    if (isObject(choice.logprobs)) spoken.logprobs = same ? choice.logprobs : runOf(choice.logprobs, textOf(parts));
    return this.#chunk(json, spoken);
  }

  #chunk(own: JsonObject | null, choice: JsonObject): string {
    if (isObject(choice.logprobs)) this.#logprobs.push(choice.logprobs);
    return dataEvent(this.#envelope.chunk(own, [choice]));
  }

  #learnReasoning(delta: JsonObject): void {
    if (this.#reasoningFields.length > 0) return;
    this.#reasoningFields = REASONING_FIELDS.filter((field) => typeof delta[field] === "string" && delta[field] !== "");
  }

  #deltaOf(parts: readonly Part[]): JsonObject {
    const delta: JsonObject = {};
    const add = (field: string, text: string) => {
      delta[field] = `${delta[field] ?? ""}${text}`;
    };
    const calls: JsonObject[] = [];
    for (const part of parts) {
      if (part.kind === "text") add(part.block === REFUSAL ? "refusal" : "content", part.text);
      else if (part.kind === "reasoning") for (const field of this.#fields()) add(field, part.text);
      else if (part.kind === "tool") calls.push(this.#calls.write(part));
    }
    if (calls.length > 0) {
      if (this.#legacy) delta.function_call = calls[0]?.function;
      else delta.tool_calls = calls;
    }
    if (this.#roleSaid || Object.keys(delta).length === 0) return delta;
    this.#roleSaid = true;
    return { role: "assistant", ...delta };
  }

  #fields(): readonly string[] {
    return this.#reasoningFields.length > 0 ? this.#reasoningFields : [REASONING_FIELDS[0]];
  }

  #messageOf(own: JsonObject, reply: Reply): JsonObject {
    this.#learnReasoning(own);
    const message: JsonObject = { ...own };
    const text = textIn(reply, CONTENT);
    const calls = callsOf(reply);
    const ownParts = chatChoice.said({ message: own });
    if (textOf(ownParts) !== text) message.content = text;
    else if (message.content === undefined) message.content = text === "" && calls.length > 0 ? null : text;
    const refusal = textIn(reply, REFUSAL);
    if (refusal !== "") message.refusal = refusal;
    const reasoning = reasoningOf(reply);
    if (reasoning !== ownParts.map((part) => (part.kind === "reasoning" ? part.text : "")).join("")) {
      delete message.reasoning_details;
      for (const field of REASONING_FIELDS) delete message[field];
      if (reasoning !== "") for (const field of this.#fields()) message[field] = reasoning;
    }
    delete message.tool_calls;
    delete message.function_call;
    if (calls.length === 0) return message;
    const written = calls.map((call) => this.#calls.whole(call));
    if (this.#legacy) message.function_call = written[0]?.function;
    else message.tool_calls = written.map((call) => Object.assign(call, extras(call, own.tool_calls)));
    return message;
  }
}

/** Numbers the tool calls of a reply: fresh for each call that a later pass makes, the same for all pieces of one call. */
class Calls {
  readonly #open = new Map<number, { index: number; id: string }>();
  #count = 0;

  place(part: Tool): number {
    const known = this.#open.get(part.block);
    if (known !== undefined && (part.id === "" || known.id === "" || known.id === part.id)) {
      if (known.id === "") known.id = part.id;
      return known.index;
    }
    const index = this.#count++;
    this.#open.set(part.block, { index, id: part.id });
    return index;
  }

  /** A piece as a delta; the first of its call carries id and name. */
  write(part: Tool): JsonObject {
    const index = this.place(part);
    const called: JsonObject = { arguments: part.args };
    if (part.name === "") return { index, ...(part.id === "" ? {} : { id: part.id }), function: called };
    return {
      index,
      id: part.id === "" ? `call_${index}` : part.id,
      type: "function",
      function: { name: part.name, ...called },
    };
  }

  whole(call: Block): JsonObject {
    const index = this.place({ kind: "tool", block: call.block, id: call.id, name: call.name, args: "" });
    const id = call.id === "" ? `call_${index}` : call.id;
    return { id, type: "function", function: { name: call.name, arguments: call.text } };
  }
}

/** Fields of the upstream's own call that lastword does not know. */
function extras(call: JsonObject, own: JsonObject[string]): JsonObject {
  const same = asArray(own).find((one) => isObject(one) && one.id !== undefined && one.id === call.id);
  const { index, id, type, function: called, ...rest } = asObject(same) ?? {};
  return rest;
}

function streamed(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message;
  const numbered = message.tool_calls.map((call, index) => ({
    index: asNumber(asObject(call)?.index) ?? index,
    ...asObject(call),
  }));
  return { ...message, tool_calls: numbered };
}

function withoutReasoning(delta: JsonObject): JsonObject {
  for (const field of REASONING_FIELDS) delete delta[field];
  return delta;
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "text" && part.block === CONTENT ? part.text : "")).join("");
}

function sameText(parts: readonly Part[], own: readonly Part[]): boolean {
  const spelled = (all: readonly Part[]) =>
    JSON.stringify(
      all.flatMap((part) => (part.kind === "text" || part.kind === "reasoning" ? [part.kind, part.text] : [])),
    );
  return spelled(parts) === spelled(own);
}

function textIn(reply: Reply, block: number): string {
  return reply.blocks.map((one) => (one.kind === "text" && one.block === block ? one.text : "")).join("");
}

function firstChoice(body: JsonObject): JsonObject {
  return asObject(asArray(body.choices)[0]) ?? {};
}

function logprobsIn(choice: JsonObject): JsonObject[string] {
  return choice.logprobs;
}
