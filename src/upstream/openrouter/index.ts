import type { Ask, WireName } from "../../core/ask.ts";
import { asArray, asNumber, asObject, asString, type JsonObject } from "../../core/json.ts";
import { claudePrefills } from "../claude.ts";
import type { Dialect, ModelFacts, Resume } from "../dialect.ts";
import { lessThinking, nextEffort, type Step } from "../effort.ts";
import { discoverListed, firstTokens, itemsOf, least, modelFacts, tokens } from "../facts.ts";
import { withoutNPredict } from "../fields.ts";
import { PERHAPS } from "../resume.ts";
import { routeElsewhere } from "../widen.ts";

/**
 * OpenRouter. Source: OpenRouterTeam/docs `api_reference/{overview,parameters,limits}`, `guides/best-practices/reasoning-tokens`;
 * OpenRouterTeam/typescript-sdk for the shapes.
 */
export const openrouter: Dialect = {
  name: "openrouter",
  wires: ["chat", "completions", "responses", "messages"],

  // The host name decides first; a gateway in front of it is known by its list.
  async detect(query) {
    const models = itemsOf(await query("GET", "v1", "/models"));
    return models?.some((model) => asObject(model.top_provider) !== undefined) === true;
  },

  discover: (query) => discoverListed(query, modelOf),

  // `max_tokens` is its deprecated alias of `max_completion_tokens`: both are read.
  capField: withoutNPredict,
  unlimitedCap: false,
  capCountsReasoning: true,
  usageOption: true,
  usageAlways: true,
  keepsReplies: false,
  hidesCuts: [],
  // `context-compression` drops the middle of long prompts for endpoints of at most 8192 tokens.
  truncatesSilently: true,

  resume,
  effort,
  widen: routeElsewhere,
};

/** Suffixes that choose how a model is routed; the list has most of them only on the plain name. Source: docs, model variants. */
const VARIANTS = ["free", "extended", "exacto", "thinking", "online", "nitro", "floor"];

/** The provider that is tried first may serve less than the headline. Any number may be null. */
function modelOf(item: JsonObject, id: string, all: readonly JsonObject[]): ModelFacts {
  const provider = asObject(item.top_provider);
  const limits = asObject(item.per_request_limits);
  const listed = new Set(all.map((each) => each.id));
  const slug = asString(item.canonical_slug) ?? id;
  const variants = id.includes(":")
    ? []
    : VARIANTS.map((variant) => `${id}:${variant}`).filter((name) => !listed.has(name));
  return modelFacts([id, ...(listed.has(slug) ? [] : [slug]), ...variants], {
    window: firstTokens(provider?.context_length, item.context_length),
    source: "served",
    maxOutput: least(tokens(provider?.max_completion_tokens), tokens(limits?.completion_tokens)),
    maxInput: tokens(limits?.prompt_tokens),
    reasoning: reasons(item),
  });
}

/** Told by `reasoning`; models without the parameter do not reason. */
function reasons(item: JsonObject): boolean | null {
  const told = asObject(item.reasoning);
  if (told !== undefined) return told.mandatory === true || told.default_enabled === true;
  const takes = asArray(item.supported_parameters);
  return takes.length === 0 || takes.includes("reasoning") || takes.includes("include_reasoning") ? null : false;
}

/** Vendors of which no provider resumes a trailing assistant message: OpenAI takes it as finished, Gemini answers 400. */
const NEVER = new Set(["openai", "google", "~openai", "~google"]);

/** Documented as "assistant prefill" for chat, and passed through: it works where the provider does it. */
function resume(wire: WireName, model: string, ask: Ask): Resume | null {
  if (wire === "completions") return PERHAPS;
  const vendor = model.split("/")[0] ?? "";
  if (wire === "responses" || NEVER.has(vendor)) return null;
  if (vendor !== "anthropic") return PERHAPS;
  return claudePrefills(model) && !thinks(ask.body) ? { ...PERHAPS, trimsTail: true } : null;
}

function thinks(body: JsonObject): boolean {
  const reasoning = asObject(body.reasoning);
  const thinking = asString(asObject(body.thinking)?.type);
  return (
    (reasoning !== undefined && reasoning.enabled !== false && reasoning.effort !== "none") ||
    (thinking !== undefined && thinking !== "disabled") ||
    (body.reasoning_effort !== undefined && body.reasoning_effort !== "none")
  );
}

/** One `reasoning` object for every provider: an effort or a budget, never both. */
function effort(wire: WireName, _model: string, body: JsonObject, step: Step): JsonObject | null {
  if (wire === "messages") return lessThinking(body, step);
  const reasoning = asObject(body.reasoning);
  if (step === "off")
    return { reasoning: { enabled: false, effort: undefined, max_tokens: undefined }, reasoning_effort: undefined };
  const budget = asNumber(reasoning?.max_tokens);
  if (budget !== undefined)
    return budget > 1024 ? { reasoning: { max_tokens: Math.max(1024, Math.floor(budget / 2)) } } : null;
  const lower = nextEffort(asString(reasoning?.effort) ?? asString(body.reasoning_effort), step, [
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
  ]);
  return lower === null ? null : { reasoning: { effort: lower }, reasoning_effort: undefined };
}
