import { asArray, asNumber, asObject, asString, type JsonObject } from "../../core/json.ts";
import type { Part } from "../../core/part.ts";
import { output, QUIET, readNamed, type Said, withStatus } from "../named.ts";
import { faultOf } from "../openai/fault.ts";
import type { Frame } from "../wire.ts";
import { partsOf } from "./blocks.ts";
import { finishOf } from "./stop.ts";
import { laterUsage, usageOf } from "./usage.ts";

/** Reads one stream: deltas and stops do not say what kind of block they belong to, and usage is told in two halves. */
export function frames(): (event: string, data: string) => Frame {
  const stream = new Stream();
  return (event, data) => readNamed(event, data, (type, json) => stream.read(type, json));
}

/** What a plain body says. */
export function parts(body: JsonObject): Part[] {
  const fault = faultOf("", body);
  if (fault !== null) return [{ kind: "fault", fault: withStatus(fault) }];
  const finish = typeof body.stop_reason === "string" ? finishOf(body.stop_reason) : null;
  const content = asArray(body.content);
  const said = content.flatMap((block, index) => {
    const all = partsOf(asObject(block) ?? {}, index);
    return finish?.kind === "cap" && index === content.length - 1 ? all.flatMap(unproven) : all;
  });
  if (finish !== null) said.push({ kind: "finish", choice: 0, finish });
  const usage = asObject(body.usage);
  if (usage !== undefined) said.push({ kind: "usage", usage: usageOf(usage) });
  return Array.isArray(body.content) ? [...said, { kind: "end" }] : said;
}

/**
 * A server parses arguments before it writes them into a body, and writes `{}` for those that it could not (llama-server): where a cap
 * ended the reply, its last call is left open.
 */
function unproven(part: Part): Part[] {
  if (part.kind === "tool") return [{ ...part, args: part.args.replace(/\}$/, "") }];
  return part.kind === "tool_end" ? [] : [part];
}

/** A tool call under way. `start`: what its arguments were called at the start, true only if no delta comes. */
interface Call {
  readonly start: JsonObject;
  fed: boolean;
}

class Stream {
  /** Open blocks by index: a call, or null for every other kind. */
  readonly #blocks = new Map<number, Call | null>();
  #usage: JsonObject = {};

  read(type: string, json: JsonObject): Said {
    const block = asNumber(json.index) ?? 0;
    switch (type) {
      case "message_start":
        return { kind: "quiet", parts: this.#told(asObject(asObject(json.message)?.usage), false) };
      case "content_block_start":
        return this.#start(block, asObject(json.content_block) ?? {});
      case "content_block_delta":
        return this.#delta(block, asObject(json.delta) ?? {});
      case "content_block_stop":
        return { kind: "tail", parts: this.#stop(block) };
      case "message_delta": {
        const said = this.#told(asObject(json.usage), true);
        const raw = asString(asObject(json.delta)?.stop_reason);
        if (raw !== undefined) said.push({ kind: "finish", choice: 0, finish: finishOf(raw) });
        return { kind: "tail", parts: said };
      }
      case "message_stop":
        return { kind: "tail", parts: [{ kind: "end" }] };
      default:
        return QUIET;
    }
  }

  #start(block: number, content: JsonObject): Said {
    if (content.type === "tool_use") {
      this.#blocks.set(block, { start: asObject(content.input) ?? {}, fed: false });
      const { id, name } = content;
      return output({ kind: "tool", block, id: asString(id) ?? "", name: asString(name) ?? "", args: "" });
    }
    this.#blocks.set(block, null);
    const said = partsOf(content, block).filter(says);
    // Server tools are output, though not such as can be gone on with.
    const known = content.type === "text" || content.type === "thinking";
    return said.length === 0 && known ? QUIET : output(...said);
  }

  #delta(block: number, delta: JsonObject): Said {
    const said = this.#added(block, delta);
    return said === null ? output() : says(said) ? output(said) : QUIET;
  }

  /** null: output that no part has (citations, server tools). */
  #added(block: number, delta: JsonObject): Part | null {
    switch (delta.type) {
      case "text_delta":
        return { kind: "text", block, text: asString(delta.text) ?? "" };
      case "thinking_delta":
        return { kind: "reasoning", block, text: asString(delta.thinking) ?? "" };
      case "signature_delta":
        return delta.signature === "" ? { kind: "reasoning", block, text: "" } : { kind: "sealed_reasoning", block };
      case "input_json_delta": {
        const call = this.#blocks.get(block);
        const args = asString(delta.partial_json) ?? "";
        if (!call) return null;
        call.fed ||= args !== "";
        return { kind: "tool", block, id: "", name: "", args };
      }
      default:
        return null;
    }
  }

  #stop(block: number): Part[] {
    const call = this.#blocks.get(block);
    this.#blocks.delete(block);
    if (!call) return [];
    const end: Part = { kind: "tool_end", block };
    if (call.fed || Object.keys(call.start).length === 0) return [end];
    return [{ kind: "tool", block, id: "", name: "", args: JSON.stringify(call.start) }, end];
  }

  /** @param final false at the start, where the count of completion tokens is no count yet */
  #told(usage: JsonObject | undefined, final: boolean): Part[] {
    if (usage === undefined) return [];
    this.#usage = laterUsage(this.#usage, usage);
    const told = usageOf(this.#usage);
    return [{ kind: "usage", usage: final ? told : { ...told, completion: null } }];
  }
}

/** An empty piece is no output yet. */
function says(part: Part): boolean {
  return !(part.kind === "text" || part.kind === "reasoning") || part.text !== "";
}
