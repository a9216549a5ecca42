import type { JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { sse } from "./sse.ts";
import type { Script, Tokens } from "./upstream-script.ts";
import { EPOCH, type Scene, type Speech, summary, type Writer } from "./upstream-writer.ts";

/** How a server writes its chat chunks. */
interface Style {
  readonly thought: "reasoning_content" | "reasoning";
  /** `own`: a chunk of its own with this content; `every`: in each delta; `first`: in the first delta with output. */
  readonly role: { readonly own: "" | null } | "every" | "first";
  readonly top: (scene: Scene) => JsonObject;
  /** Beside index, delta and finish_reason in every choice. */
  readonly choice: JsonObject;
  readonly finishDelta: JsonObject;
  readonly finishChoice: (reason: string, native: string | null) => JsonObject;
  readonly usage: (tokens: Tokens) => JsonObject;
  readonly usageAlways: boolean;
  /** `usage: null` on ordinary chunks where usage was asked for. */
  readonly usageNull: boolean;
  /** `split`: name and arguments in chunks of their own; `whole`: one delta for the whole call. */
  readonly tools: "pieces" | "split" | "whole";
  readonly timings: boolean;
}

const none = () => ({});
const plainUsage = (t: Tokens): JsonObject => ({
  prompt_tokens: t.prompt,
  completion_tokens: t.completion,
  total_tokens: t.prompt + t.completion,
});
const withReasoning = (t: Tokens): JsonObject => ({
  ...plainUsage(t),
  ...(t.reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: t.reasoning } }),
});

const generic: Style = {
  thought: "reasoning_content",
  role: { own: "" },
  top: none,
  choice: {},
  finishDelta: {},
  finishChoice: none,
  usage: withReasoning,
  usageAlways: false,
  usageNull: false,
  tools: "pieces",
  timings: false,
};

/** The servers' chunk shapes, one row each. */
const STYLES: Record<DialectName, Style> = {
  generic,
  openai: {
    ...generic,
    role: { own: "" },
    top: () => ({ service_tier: "default", system_fingerprint: "fp_50cad350e4" }),
    choice: { logprobs: null },
    usage: (t) => ({
      ...plainUsage(t),
      prompt_tokens_details: { cached_tokens: t.cached ?? 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: t.reasoning ?? 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    }),
    usageNull: true,
  },
  lmstudio: {
    ...generic,
    role: "every",
    top: (scene) => ({ system_fingerprint: scene.model }),
    choice: { logprobs: null },
    tools: "split",
  },
  llamacpp: {
    ...generic,
    role: { own: null },
    top: () => ({ system_fingerprint: "b6500-3d4e5f6a" }),
    usage: (t) => ({ ...plainUsage(t), prompt_tokens_details: { cached_tokens: t.cached ?? 0 } }),
    timings: true,
  },
  openrouter: {
    ...generic,
    thought: "reasoning",
    role: "every",
    top: () => ({ provider: "DeepInfra" }),
    choice: { native_finish_reason: null, logprobs: null },
    finishDelta: { role: "assistant", content: "" },
    finishChoice: (reason, native) => ({
      native_finish_reason: native ?? (reason === "length" ? "max_tokens" : reason),
    }),
    usage: (t) => ({
      ...plainUsage(t),
      cost: 0.0001,
      is_byok: false,
      prompt_tokens_details: { cached_tokens: t.cached ?? 0, cache_write_tokens: 0 },
      cost_details: { upstream_inference_cost: null },
      completion_tokens_details: { reasoning_tokens: t.reasoning ?? 0 },
    }),
    usageAlways: true,
  },
  vllm: {
    ...generic,
    thought: "reasoning",
    choice: { logprobs: null },
    finishDelta: { content: "" },
    finishChoice: () => ({ stop_reason: null, token_ids: null }),
  },
  ollama: {
    ...generic,
    thought: "reasoning",
    role: "first",
    top: () => ({ system_fingerprint: "fp_ollama" }),
    tools: "whole",
  },
};

/** llama-server's speed figures, which stand on its last chunk. */
const timings = (t: Tokens): JsonObject => ({
  cache_n: t.cached ?? 0,
  prompt_n: t.prompt - (t.cached ?? 0),
  prompt_ms: 10,
  predicted_n: t.completion,
  predicted_ms: 10 * t.completion,
  predicted_per_second: 100,
});

export function chatWriter(scene: Scene): Writer {
  const style = STYLES[scene.dialect];
  const head = { id: chatId(scene), created: EPOCH + scene.n, model: scene.model, ...style.top(scene) };
  const all = summary(scene.script);
  const wanted = scene.includeUsage || style.usageAlways;
  const usageNull = style.usageNull && scene.includeUsage ? { usage: null } : {};
  const spoken = new Set<number>();

  const chunk = (choices: JsonObject[], more: JsonObject = {}) =>
    sse({ ...head, object: "chat.completion.chunk", choices, ...usageNull, ...more });
  const choice = (index: number, delta: JsonObject, more: JsonObject = {}) => ({
    index,
    delta,
    ...style.choice,
    finish_reason: null,
    ...more,
  });

  function roleChunk(index: number): string[] {
    if (spoken.has(index)) return [];
    if (typeof style.role === "string") return [];
    spoken.add(index);
    return [chunk([choice(index, { role: "assistant", content: style.role.own })])];
  }

  /** Output, preceded by the role where it has a chunk of its own. */
  function output(index: number, ...deltas: JsonObject[]): string[] {
    const before = roleChunk(index);
    const events = deltas.map((delta) => {
      const named = style.role === "every" || (style.role === "first" && !spoken.has(index));
      spoken.add(index);
      return chunk([choice(index, named ? { role: "assistant", ...delta } : delta)]);
    });
    return [...before, ...events];
  }

  return {
    write(act: Speech) {
      switch (act.act) {
        case "role":
          if (typeof style.role !== "string") return roleChunk(0);
          spoken.add(0);
          return [chunk([choice(0, { role: "assistant", content: "" })])];
        case "say":
          return output(act.choice, { content: act.text });
        case "think":
          return output(0, thought(style, scene.dialect, act.text));
        case "tool":
          return output(0, ...toolDeltas(style, act).map((call) => ({ tool_calls: [call] })));
        case "finish": {
          const delta = act.text === "" ? style.finishDelta : { ...style.finishDelta, content: act.text };
          const last = style.timings && !(wanted && all.tokens !== null);
          return [
            ...roleChunk(act.choice),
            chunk(
              [choice(act.choice, delta, { finish_reason: act.reason, ...style.finishChoice(act.reason, act.native) })],
              last ? { timings: timings(all.tokens ?? { prompt: 1, completion: 1 }) } : {},
            ),
          ];
        }
        case "usage":
          if (!wanted && !act.force) return [];
          return [
            chunk([], { usage: style.usage(act.usage), ...(style.timings ? { timings: timings(act.usage) } : {}) }),
          ];
        case "done":
          return [sse("[DONE]")];
        default:
          return act satisfies never;
      }
    },

    plain() {
      const message: JsonObject = {
        role: "assistant",
        ...(all.reasoning === "" ? {} : thought(style, scene.dialect, all.reasoning)),
        content: all.text === "" && all.tools.length > 0 ? null : all.text,
      };
      if (all.tools.length > 0)
        message.tool_calls = all.tools.map((call, index) => ({
          ...(scene.dialect === "ollama" ? { index } : {}),
          id: call.id,
          type: "function",
          function: { name: call.name, arguments: call.args },
        }));
      const choices = choiceIndexes(scene.script).map((index) => {
        const own = index === 0 ? all : summary(scene.script, index);
        return {
          index,
          message: index === 0 ? message : { role: "assistant", content: own.text },
          ...style.choice,
          finish_reason: own.reason,
          ...(own.reason === null ? {} : style.finishChoice(own.reason, own.native)),
        };
      });
      return {
        ...head,
        object: "chat.completion",
        choices,
        ...(all.tokens === null ? {} : { usage: style.usage(all.tokens) }),
        ...(scene.dialect === "lmstudio" ? { stats: {} } : {}),
        ...(style.timings ? { timings: timings(all.tokens ?? { prompt: 1, completion: 1 }) } : {}),
      };
    },
  };
}

function chatId(scene: Scene): string {
  return scene.dialect === "openrouter" ? `gen-${EPOCH}-${scene.n}` : `chatcmpl-${scene.n}`;
}

function thought(style: Style, dialect: DialectName, text: string): JsonObject {
  if (dialect === "ollama") return { content: "", reasoning: text };
  if (dialect !== "openrouter") return { [style.thought]: text };
  const detail = { type: "reasoning.text", text, format: "unknown", index: 0 };
  return { content: "", reasoning: text, reasoning_details: [detail] };
}

function toolDeltas(style: Style, act: Extract<Speech, { act: "tool" }>): JsonObject[] {
  const named = act.id !== "" || act.name !== "";
  const first = { index: act.index, id: act.id, type: "function" };
  if (!named) return [{ index: act.index, function: { arguments: act.args } }];
  if (style.tools !== "split") return [{ ...first, function: { name: act.name, arguments: act.args } }];
  const name = { ...first, function: { name: act.name } };
  return act.args === "" ? [name] : [name, { index: act.index, function: { arguments: act.args } }];
}

function choiceIndexes(script: Script): number[] {
  const indexes = new Set([0]);
  for (const act of script) if (act.act === "say" || act.act === "finish") indexes.add(act.choice);
  return [...indexes].sort((a, b) => a - b);
}

/** Where the server sends a tool call whole, its pieces are joined before it is played. */
export function joinTools(script: Script, dialect: DialectName): Script {
  if (STYLES[dialect].tools !== "whole") return script;
  const joined: Script[number][] = [];
  for (const act of script) {
    const last = joined.at(-1);
    if (act.act === "tool" && last?.act === "tool" && last.index === act.index)
      joined[joined.length - 1] = {
        ...last,
        id: last.id + act.id,
        name: last.name + act.name,
        args: last.args + act.args,
      };
    else joined.push(act);
  }
  return joined;
}

export function completionsWriter(scene: Scene): Writer {
  const style = STYLES[scene.dialect];
  const id = scene.dialect === "openrouter" ? `gen-${EPOCH}-${scene.n}` : `cmpl-${scene.n}`;
  const head = { id, object: "text_completion", created: EPOCH + scene.n, model: scene.model, ...style.top(scene) };
  const all = summary(scene.script);
  const choice = (index: number, text: string, reason: string | null) => ({
    text,
    index,
    logprobs: null,
    finish_reason: reason,
  });
  const chunk = (choices: JsonObject[], more: JsonObject = {}) => [sse({ ...head, choices, ...more })];
  return {
    write(act) {
      switch (act.act) {
        case "role":
          return [];
        case "say":
          return chunk([choice(act.choice, act.text, null)]);
        case "think":
          return chunk([choice(0, act.text, null)]);
        case "tool":
          throw new Error("the completions wire has no tool calls");
        case "finish":
          return chunk([choice(act.choice, act.text, act.reason)]);
        case "usage":
          return scene.includeUsage || style.usageAlways || act.force
            ? chunk([], { usage: style.usage(act.usage) })
            : [];
        case "done":
          return [sse("[DONE]")];
        default:
          return act satisfies never;
      }
    },
    plain() {
      const choices = choiceIndexes(scene.script).map((index) => {
        const own = summary(scene.script, index);
        return choice(index, index === 0 ? own.reasoning + own.text : own.text, own.reason);
      });
      return { ...head, choices, ...(all.tokens === null ? {} : { usage: style.usage(all.tokens) }) };
    },
  };
}
