import type { JsonObject } from "../../src/core/json.ts";
import { parseJson } from "../../src/core/json.ts";
import { sse } from "./sse.ts";
import type { Tokens } from "./upstream-script.ts";
import { type Scene, summary, type Writer } from "./upstream-writer.ts";

/** Chat's finish reasons in the words of Messages; other words are passed as they are. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

export function messagesWriter(scene: Scene): Writer {
  const all = summary(scene.script);
  let begun = false;
  let index = -1;
  let open: string | null = null;

  const emit = (type: string, fields: JsonObject = {}) => sse({ type, ...fields }, type);

  function begin(): string[] {
    if (begun) return [];
    begun = true;
    const started = all.tokens === null ? {} : { usage: usage({ ...all.tokens, completion: 1 }) };
    return [
      emit("message_start", {
        message: { ...head(scene), content: [], stop_reason: null, stop_sequence: null, ...started },
      }),
    ];
  }

  function close(): string[] {
    if (open === null) return [];
    open = null;
    return [emit("content_block_stop", { index })];
  }

  function enter(key: string, block: JsonObject): string[] {
    const before = begin();
    if (open === key) return before;
    const closed = close();
    open = key;
    index += 1;
    return [...before, ...closed, emit("content_block_start", { index, content_block: block })];
  }

  const delta = (fields: JsonObject) => emit("content_block_delta", { index, delta: fields });

  return {
    write(act) {
      switch (act.act) {
        case "role":
          return begin();
        case "say":
          return [...enter("text", { type: "text", text: "" }), delta({ type: "text_delta", text: act.text })];
        case "think":
          return [
            ...enter("thinking", { type: "thinking", thinking: "", signature: "" }),
            delta({ type: "thinking_delta", thinking: act.text }),
          ];
        case "tool":
          return [
            ...enter(`tool ${act.index}`, { type: "tool_use", id: act.id, name: act.name, input: {} }),
            ...(act.args === "" ? [] : [delta({ type: "input_json_delta", partial_json: act.args })]),
          ];
        case "finish":
          return [
            ...(act.text === ""
              ? begin()
              : [...enter("text", { type: "text", text: "" }), delta({ type: "text_delta", text: act.text })]),
            ...close(),
            emit("message_delta", {
              delta: { stop_reason: STOP_REASONS[act.reason] ?? act.reason, stop_sequence: null },
              ...(all.tokens === null ? {} : { usage: { output_tokens: all.tokens.completion } }),
            }),
          ];
        case "usage":
          return [];
        case "done":
          return [...begin(), ...close(), emit("message_stop")];
        default:
          return act satisfies never;
      }
    },
    plain() {
      const content: JsonObject[] = [];
      if (all.reasoning !== "") content.push({ type: "thinking", thinking: all.reasoning, signature: "" });
      if (all.text !== "") content.push({ type: "text", text: all.text });
      for (const call of all.tools)
        content.push({ type: "tool_use", id: call.id, name: call.name, input: parseJson(call.args) ?? {} });
      return {
        ...head(scene),
        content,
        stop_reason: all.reason === null ? null : (STOP_REASONS[all.reason] ?? all.reason),
        stop_sequence: null,
        ...(all.tokens === null ? {} : { usage: usage(all.tokens) }),
      };
    },
  };
}

const head = (scene: Scene): JsonObject => ({
  id: `msg_${scene.n}`,
  type: "message",
  role: "assistant",
  model: scene.model,
});

function usage(t: Tokens): JsonObject {
  return {
    input_tokens: t.prompt - (t.cached ?? 0),
    ...(t.cached === undefined ? {} : { cache_read_input_tokens: t.cached, cache_creation_input_tokens: 0 }),
    output_tokens: t.completion,
  };
}
