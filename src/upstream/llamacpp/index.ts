import type { WireName } from "../../core/ask.ts";
import { asArray, asObject, asString, type JsonObject } from "../../core/json.ts";
import type { Dialect, ModelFacts, Query, Resume } from "../dialect.ts";
import { lessThinking, nextEffort, type Step } from "../effort.ts";
import { type Discovered, firstTokens, itemsOf, modelFacts, refusalOf, tokens } from "../facts.ts";
import { PROMPT_GOES_ON } from "../resume.ts";
import { pasteable } from "../widen.ts";
import { count, render } from "./count.ts";

/**
 * llama-server, alone or as a router of several models.
 * Source: ggml-org/llama.cpp `tools/server/README.md`; what is called measured was seen on build 11669 at temperature 0.
 */
export const llamacpp: Dialect = {
  name: "llamacpp",
  wires: ["chat", "completions", "responses", "messages"],

  async detect(query) {
    const [props, models] = await Promise.all([query("GET", "root", "/props"), query("GET", "v1", "/models")]);
    const told = asObject(props?.json);
    return (
      asObject(told?.default_generation_settings) !== undefined ||
      // Still loading, or a key is needed for `/props` (but not for the list).
      (asObject(told?.error)?.type === "unavailable_error" && asObject(told?.error)?.message === "Loading model") ||
      itemsOf(models)?.some((model) => model.owned_by === "llamacpp") === true
    );
  },

  discover,
  inspect,
  count,
  render,

  capField,
  unlimitedCap: true,
  capCountsReasoning: true,
  usageOption: true,
  usageAlways: false,
  losesOpening: true,
  keepsReplies: false,
  // Its Responses wire says `completed` whatever ended the reply.
  hidesCuts: ["responses"],
  truncatesSilently: false,

  resume: (wire) => (wire === "completions" ? PROMPT_GOES_ON : SAME_MESSAGE),
  effort,
  widen: (model) => `llama-server -m ${pasteable(model)} -c 32768 -np 1`,
};

/**
 * Measured, streamed and plain, on 31 cuts on chat, 16 on messages and 8 on responses: exact to the byte with a bare trailing message
 * and with `true` (on chat with `"content"` too). Chosen: `true` beside `add_generation_prompt: false`.
 * - `true` alone is a 400: both flags may not be true
 * - `true` goes on in the thought where there is no text yet, else in the text; `"reasoning_content"` repeats text in streams
 * - only with the pair does it resume under `--no-prefill-assistant`
 * - builds before the flag (May 2026) ignore it and resume a bare trailing message
 * Plain replies repeat the given text and thought in front, streams do not; `echo: false` changes nothing.
 * A thought alone needs `content: ""` on chat, and no empty text block on messages. A message with tool calls is a 400.
 */
const SAME_MESSAGE: Resume = {
  set: { continue_final_message: true, add_generation_prompt: false },
  mark: {},
  trimsTail: false,
  echo: "plain",
  thoughts: true,
  setThought: { continue_final_message: true, add_generation_prompt: false },
  sure: true,
};

/**
 * `meta.n_ctx` of each model. One model alone answers under any name, and an older build tells its window only in `/props`.
 * A router's own `/props` says 0, and for a model that is not loaded the list has the trained length in `context_length`.
 */
async function discover(query: Query): Promise<Discovered> {
  const answer = await query("GET", "v1", "/models");
  const items = itemsOf(answer);
  if (items === null) return refusalOf(answer);
  const alone = items.length === 1 && asObject(items[0]?.status) === undefined;
  const models = items.flatMap((item) => modelOf(item, alone));
  const [only] = models;
  if (!alone || only === undefined || only.window !== null) return { models };
  return { models: [{ ...only, ...(await propsOf(query, "/props")) }] };
}

/** The window of a router's loaded model, where its list does not tell it. Never loads a model in order to ask. */
async function inspect(query: Query, model: string, listed: ModelFacts | null): Promise<ModelFacts | null> {
  if (listed === null || listed.provisional) return null;
  const told = await propsOf(query, `/props?model=${encodeURIComponent(model)}&autoload=false`);
  return told === null ? null : { ...listed, ...told };
}

function modelOf(item: JsonObject, alone: boolean): ModelFacts[] {
  const id = asString(item.id);
  if (id === undefined) return [];
  const aliases = asArray(item.aliases).filter((alias) => typeof alias === "string");
  const status = asString(asObject(item.status)?.value);
  const provisional = status !== undefined && status !== "loaded";
  const meta = asObject(item.meta);
  return [
    modelFacts([id, ...aliases], {
      window: provisional ? null : tokens(meta?.n_ctx),
      trained: firstTokens(meta?.n_ctx_train, item.context_length),
      provisional,
      anyName: alone,
    }),
  ];
}

async function propsOf(query: Query, path: string): Promise<Pick<ModelFacts, "window" | "source"> | null> {
  const answer = await query("GET", "root", path);
  const window = tokens(asObject(asObject(answer?.json)?.default_generation_settings)?.n_ctx);
  return window === null ? null : { window, source: "loaded" };
}

/** Measured: every wire reads every field, but Messages only its own. */
function capField(wire: WireName, field: string): string {
  return wire === "messages" ? "max_tokens" : field;
}

/**
 * Measured on a template that knows no switch for thinking: only a budget ends it. Chat and responses read
 * `reasoning_budget_tokens`, messages `thinking.budget_tokens` (0 is none; `type: "disabled"` changes nothing).
 * The switches beside it are for templates that have one.
 */
function effort(wire: WireName, _model: string, body: JsonObject, step: Step): JsonObject | null {
  if (wire === "messages")
    return step === "off" ? { thinking: { type: "enabled", budget_tokens: 0 } } : lessThinking(body, step);
  if (step === "off") return { reasoning_budget_tokens: 0, chat_template_kwargs: { enable_thinking: false } };
  const kwargs = asObject(body.chat_template_kwargs);
  const lower = nextEffort(asString(kwargs?.reasoning_effort) ?? asString(body.reasoning_effort), step, [
    "low",
    "medium",
    "high",
  ]);
  return lower === null ? null : { reasoning_budget_tokens: 1024, chat_template_kwargs: { reasoning_effort: lower } };
}
