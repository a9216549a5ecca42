import type { Ask, WireName } from "../../core/ask.ts";
import { asArray, asNumber, asObject, asString, type JsonObject } from "../../core/json.ts";
import type { Dialect, Query, Resume } from "../dialect.ts";
import { effortOn, type Step } from "../effort.ts";
import { discoverListed, firstTokens, itemsOf, modelFacts } from "../facts.ts";
import { pick, withoutNPredict } from "../fields.ts";
import { PROMPT_GOES_ON, TRAILING } from "../resume.ts";
import { pasteable } from "../widen.ts";

/** Servers of one family: the same list, the same flags. */
const OWNERS = new Set<unknown>(["vllm", "sglang", "pygmalionai"]);

/**
 * vLLM, SGLang, Aphrodite.
 * Source: vllm-project/vllm `entrypoints/openai`; sgl-project/sglang 4226; issues 9547, 28580, 32100 as named below.
 */
export const vllm: Dialect = {
  name: "vllm",
  wires: ["chat", "completions", "responses", "messages"],

  async detect(query) {
    const models = itemsOf(await query("GET", "v1", "/models"));
    return models?.some((model) => OWNERS.has(model.owned_by)) === true;
  },

  // An adapter (LoRA) names its `parent` and may lack a length of its own.
  discover: (query) =>
    discoverListed(query, (item, id, all) => {
      const parent = all.find((each) => each.id === item.parent);
      return modelFacts([id], { window: firstTokens(item.max_model_len, parent?.max_model_len) });
    }),
  count,

  capField: withoutNPredict,
  unlimitedCap: false,
  capCountsReasoning: true,
  usageOption: true,
  usageAlways: false,
  hidesCuts: [],
  truncatesSilently: false,

  resume,
  effort,
  widen: (model) => `vllm serve ${pasteable(model)} --max-model-len 32768`,
};

/** Without the pair the template opens a new turn; both true is a 400. Trailing whitespace: 400 "substring not found" (9547). */
const FLAGS: Resume = {
  ...TRAILING,
  set: { continue_final_message: true, add_generation_prompt: false },
  trimsTail: true,
};

function resume(wire: WireName): Resume | null {
  switch (wire) {
    case "chat":
      return FLAGS;
    case "completions":
      return PROMPT_GOES_ON;
    case "responses":
      // An assistant item that is in progress is gone on with (32100).
      return { ...TRAILING, mark: { status: "in_progress" }, trimsTail: true, sure: false };
    case "messages":
      // The conversion from Messages does not carry the flags.
      return null;
    default:
      return wire satisfies never;
  }
}

/** Fields that change what is rendered. */
const RENDERED = ["messages", "tools", "chat_template", "chat_template_kwargs", "mm_processor_kwargs"];

/** `/tokenize` renders messages with their tools, or takes a prompt as it is. */
async function count(query: Query, ask: Ask, body: JsonObject): Promise<number | null> {
  if (ask.wire === "completions") {
    if (typeof body.prompt !== "string")
      return typeof asArray(body.prompt)[0] === "number" ? asArray(body.prompt).length : null;
    return counted(query, { model: body.model, prompt: body.prompt, add_special_tokens: true });
  }
  if (ask.wire !== "chat") return null;
  return counted(query, {
    model: body.model,
    ...pick(body, RENDERED),
    add_generation_prompt: body.add_generation_prompt ?? true,
    continue_final_message: body.continue_final_message ?? false,
  });
}

async function counted(query: Query, body: JsonObject): Promise<number | null> {
  return asNumber(asObject((await query("POST", "root", "/tokenize", body))?.json)?.count) ?? null;
}

/** Templates have a switch (`enable_thinking`; `thinking` in DeepSeek's and Granite's); gpt-oss has efforts. */
function effort(wire: WireName, _model: string, body: JsonObject, step: Step): JsonObject | null {
  if (wire === "responses") return effortOn(wire, body, step, ["low", "medium", "high"]);
  if (step === "off") return { chat_template_kwargs: { enable_thinking: false, thinking: false } };
  return wire === "messages" || asString(body.reasoning_effort) === "none"
    ? null
    : effortOn(wire, body, step, ["low", "medium", "high"]);
}
