import type { JsonObject } from "../../src/core/json.ts";
import { sse } from "./sse.ts";
import type { Tokens } from "./upstream-script.ts";
import { EPOCH, type Scene, type Summary, summary, type Writer } from "./upstream-writer.ts";

interface Item {
  readonly kind: "message" | "reasoning" | "tool";
  /** Index of the tool act; 0 for the others. */
  readonly key: number;
  readonly id: string;
  readonly output: number;
  readonly callId: string;
  readonly name: string;
  text: string;
}

/** llama-server and Ollama never say `incomplete`, and llama-server leaves out the numbers. */
export function responsesWriter(scene: Scene): Writer {
  const numbered = scene.dialect !== "llamacpp";
  const hidesCuts = scene.dialect === "llamacpp" || scene.dialect === "ollama";
  const items: Item[] = [];
  let open: Item | null = null;
  let begun = false;
  let sequence = 0;
  let reason: string | null = null;

  const emit = (type: string, fields: JsonObject) =>
    sse({ type, ...(numbered ? { sequence_number: sequence++ } : {}), ...fields }, type);
  const at = (item: Item, content: boolean): JsonObject => ({
    item_id: item.id,
    ...(numbered ? { output_index: item.output } : {}),
    ...(content && numbered ? { content_index: 0 } : {}),
  });
  const place = (item: Item): JsonObject => (numbered ? { output_index: item.output } : {});

  function begin(): string[] {
    if (begun) return [];
    begun = true;
    const response = body(scene, "in_progress", [], null, null);
    return [emit("response.created", { response }), emit("response.in_progress", { response })];
  }

  function enter(kind: Item["kind"], key: number, callId = "", name = ""): string[] {
    const before = begin();
    if (open?.kind === kind && open.key === key) return before;
    const closed = close("completed");
    const prefix = { message: "msg", reasoning: "rs", tool: "fc" }[kind];
    const output = items.length;
    open = { kind, key, id: `${prefix}_${scene.n}_${output}`, output, callId, name, text: "" };
    items.push(open);
    const added = emit("response.output_item.added", { ...place(open), item: shape(open, "in_progress", false) });
    const part = partOf(open, "");
    const opened = part === null ? [] : [emit("response.content_part.added", { ...at(open, true), part })];
    return [...before, ...closed, added, ...opened];
  }

  function close(status: "completed" | "incomplete"): string[] {
    const item = open;
    open = null;
    if (item === null) return [];
    const ends = endsOf(item).map(([type, fields]) => emit(type, fields));
    return [...ends, emit("response.output_item.done", { ...place(item), item: shape(item, status, true) })];
  }

  /** What comes before an item's own end. */
  function endsOf(item: Item): [string, JsonObject][] {
    switch (item.kind) {
      case "message":
        return [
          ["response.output_text.done", { ...at(item, true), text: item.text, logprobs: [] }],
          ["response.content_part.done", { ...at(item, true), part: outputText(item.text) }],
        ];
      case "reasoning": {
        const part = partOf(item, item.text);
        return [
          ["response.reasoning_text.done", { ...at(item, true), text: item.text }],
          ...(part === null
            ? []
            : [["response.content_part.done", { ...at(item, true), part }] as [string, JsonObject]]),
        ];
      }
      case "tool":
        return [["response.function_call_arguments.done", { ...at(item, false), arguments: item.text }]];
      default:
        return item.kind satisfies never;
    }
  }

  /** The content part around a text; llama-server announces none around reasoning. */
  function partOf(item: Item, text: string): JsonObject | null {
    if (item.kind === "message") return outputText(text);
    return item.kind === "reasoning" && numbered ? { type: "reasoning_text", text } : null;
  }

  function delta(kind: Item["kind"], text: string): string[] {
    if (open === null) return [];
    open.text += text;
    switch (kind) {
      case "message":
        return [emit("response.output_text.delta", { ...at(open, true), delta: text, logprobs: [] })];
      case "reasoning":
        return [emit("response.reasoning_text.delta", { ...at(open, true), delta: text })];
      case "tool":
        return [emit("response.function_call_arguments.delta", { ...at(open, false), delta: text })];
      default:
        return kind satisfies never;
    }
  }

  return {
    write(act) {
      switch (act.act) {
        case "role":
          return begin();
        case "say":
          return [...enter("message", 0), ...delta("message", act.text)];
        case "think":
          return [...enter("reasoning", 0), ...delta("reasoning", act.text)];
        case "tool":
          return [...enter("tool", act.index, act.id, act.name), ...(act.args === "" ? [] : delta("tool", act.args))];
        case "finish":
          reason = act.reason;
          return [
            ...begin(),
            ...(act.text === "" ? [] : [...enter("message", 0), ...delta("message", act.text)]),
            ...close(statusOf(act.reason, hidesCuts) === "incomplete" ? "incomplete" : "completed"),
          ];
        case "usage":
          return [];
        case "done": {
          const status = statusOf(reason, hidesCuts);
          const output = items.map((item, index) =>
            shape(item, status === "incomplete" && index === items.length - 1 ? "incomplete" : "completed", true),
          );
          const response = body(scene, status, output, reason, summary(scene.script).tokens);
          const events = [...begin(), ...close("completed"), emit(`response.${status}`, { response })];
          return scene.dialect === "openrouter" ? [...events, sse("[DONE]")] : events;
        }
        default:
          return act satisfies never;
      }
    },
    plain() {
      const all = summary(scene.script);
      const status = statusOf(all.reason, hidesCuts);
      return body(scene, status, whole(scene, all, status), all.reason, all.tokens);
    },
  };
}

type Status = "in_progress" | "completed" | "incomplete" | "failed";

function statusOf(reason: string | null, hidesCuts: boolean): Status {
  if (reason === "error") return "failed";
  if (reason === null || reason === "stop" || reason === "tool_calls" || hidesCuts) return "completed";
  return "incomplete";
}

function body(
  scene: Scene,
  status: Status,
  output: JsonObject[],
  reason: string | null,
  tokens: Tokens | null,
): JsonObject {
  const why = reason === "length" ? "max_output_tokens" : reason;
  return {
    id: `resp_${scene.n}`,
    object: "response",
    created_at: EPOCH + scene.n,
    status,
    error: status === "failed" ? { code: "server_error", message: "The server had an error." } : null,
    incomplete_details: status === "incomplete" ? { reason: why } : null,
    model: scene.model,
    output,
    usage: tokens === null ? null : usage(tokens),
  };
}

function usage(t: Tokens): JsonObject {
  return {
    input_tokens: t.prompt,
    input_tokens_details: { cached_tokens: t.cached ?? 0 },
    output_tokens: t.completion,
    output_tokens_details: { reasoning_tokens: t.reasoning ?? 0 },
    total_tokens: t.prompt + t.completion,
  };
}

const outputText = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], logprobs: [] });

function shape(item: Item, status: string, full: boolean): JsonObject {
  switch (item.kind) {
    case "message":
      return { id: item.id, type: "message", status, role: "assistant", content: full ? [outputText(item.text)] : [] };
    case "reasoning":
      return {
        id: item.id,
        type: "reasoning",
        summary: [],
        content: full ? [{ type: "reasoning_text", text: item.text }] : [],
      };
    case "tool":
      return {
        id: item.id,
        type: "function_call",
        status,
        call_id: item.callId,
        name: item.name,
        arguments: full ? item.text : "",
      };
    default:
      return item.kind satisfies never;
  }
}

/** The output items of a plain body: reasoning, message, calls. */
function whole(scene: Scene, all: Summary, status: Status): JsonObject[] {
  const items: Omit<Item, "id" | "output">[] = [];
  if (all.reasoning !== "") items.push({ kind: "reasoning", key: 0, callId: "", name: "", text: all.reasoning });
  if (all.text !== "") items.push({ kind: "message", key: 0, callId: "", name: "", text: all.text });
  all.tools.forEach((call, key) => {
    items.push({ kind: "tool", key, callId: call.id, name: call.name, text: call.args });
  });
  return items.map((item, output) =>
    shape(
      { ...item, output, id: `${{ message: "msg", reasoning: "rs", tool: "fc" }[item.kind]}_${scene.n}_${output}` },
      status === "incomplete" && output === items.length - 1 ? "incomplete" : "completed",
      true,
    ),
  );
}
