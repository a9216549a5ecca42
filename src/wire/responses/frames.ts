import { asNumber, asObject, asString, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { output, QUIET, readNamed, type Said, TAIL, withStatus } from "../named.ts";
import { faultOf } from "../openai/fault.ts";
import type { Frame } from "../wire.ts";
import { CALLS, CHANNELS, type ChannelName, channelOf, isCall } from "./channels.ts";
import { argsOf, called, isSealed, Numbers, outputOf, partsOf, said } from "./items.ts";
import { finishOf } from "./status.ts";
import { usageOf } from "./usage.ts";

/** Reads one stream: pieces name their item by its id alone, and llama-server numbers nothing. */
export function frames(): (event: string, data: string) => Frame {
  const stream = new Stream();
  return (event, data) => readNamed(event, data, (type, json) => stream.read(type, json));
}

/** What a plain body says. */
export function parts(body: JsonObject): Part[] {
  const numbers = new Numbers();
  const all = outputOf(body).flatMap((item, position) => partsOf(item, numbers, position));
  const end = ended(body);
  return Array.isArray(body.output) || end.some((part) => part.kind === "fault") ? [...all, ...end] : all;
}

class Stream {
  readonly #numbers = new Numbers();
  /** Numbers of what has come piece by piece: its whole says nothing new. */
  readonly #fed = new Set<number>();
  /** Ids of items that no part speaks of: what the server's own tools make. */
  readonly #others = new Set<string>();

  read(type: string, json: JsonObject): Said {
    const channel = channelOf(type, "delta");
    if (channel !== undefined) return this.#piece(channel, this.#number(json, channel), asString(json.delta) ?? "");
    const whole = channelOf(type, "done");
    if (whole !== undefined) return this.#whole(whole, this.#number(json, whole), json);
    switch (type) {
      case "response.output_item.added":
        return this.#added(asObject(json.item) ?? {}, json);
      case CALLS.function_call.delta:
      case CALLS.custom_tool_call.delta:
        return this.#args(this.#number(json), asString(json.delta) ?? "");
      case "response.output_item.done":
        return this.#done(asObject(json.item) ?? {}, json);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        return { kind: "tail", parts: ended(asObject(json.response) ?? {}) };
      default:
        if (this.#others.has(asString(json.item_id) ?? "")) return output();
        // Every `done` is true only if the reply was not cut in the midst of what it ends.
        return type.endsWith(".done") ? TAIL : QUIET;
    }
  }

  #piece(channel: ChannelName, block: number, text: string): Said {
    if (text === "") return QUIET;
    this.#fed.add(block);
    return output(said(channel, block, text));
  }

  #whole(channel: ChannelName, block: number, json: JsonObject): Said {
    const text = asString(json[CHANNELS[channel].field]) ?? "";
    return text === "" || this.#fed.has(block) ? TAIL : this.#piece(channel, block, text);
  }

  #added(item: JsonObject, json: JsonObject): Said {
    if (isCall(item.type)) {
      const args = argsOf(item);
      const block = this.#number({ ...json, item_id: item.id });
      if (args !== "") this.#fed.add(block);
      return output(called(item, block, args));
    }
    if (item.type === "message" || item.type === "reasoning") return QUIET;
    this.#others.add(asString(item.id) ?? "");
    return output();
  }

  #args(block: number, args: string): Said {
    if (args === "") return QUIET;
    this.#fed.add(block);
    return output({ kind: "tool", block, id: "", name: "", args });
  }

  #done(item: JsonObject, json: JsonObject): Said {
    const named = { ...json, item_id: item.id };
    if (isSealed(item) && item.encrypted_content) {
      return {
        kind: "tail",
        parts: [{ kind: "sealed_reasoning", block: this.#number(named, "reasoning_text"), whole: true }],
      };
    }
    if (this.#others.has(asString(item.id) ?? "")) return output();
    if (!isCall(item.type)) return TAIL;
    const block = this.#number(named);
    const end: Part[] = item.status === "incomplete" ? [] : [{ kind: "tool_end", block }];
    const args = argsOf(item);
    if (args === "" || this.#fed.has(block)) return { kind: "tail", parts: end };
    return output(called(item, block, args), ...end);
  }

  #number(json: JsonObject, channel?: ChannelName): number {
    const item = asString(json.item_id) ?? `#${asNumber(json.output_index) ?? 0}`;
    if (channel === undefined) return this.#numbers.of(item);
    return this.#numbers.of(`${item}/${asNumber(json[CHANNELS[channel].index]) ?? 0}`);
  }
}

/** How a response ended, in a terminal event or as a plain body. */
function ended(response: JsonObject): Part[] {
  const usage = usageOf(response);
  const all: Part[] = usage === null ? [] : [{ kind: "usage", usage }];
  const fault = faultOf(response.status === "failed" ? "error" : "", response);
  if (fault !== null) return [...all, { kind: "fault", fault: { ...withStatus(fault), body: response } }];
  const finish = finishOf(response);
  if (finish !== null) all.push({ kind: "finish", choice: 0, finish });
  return [...all, { kind: "end" }];
}
