import { asArray, asObject, asString, isObject, type JsonObject } from "../../core/json.ts";
import type { Dialect, ModelFacts, Query } from "../dialect.ts";
import { effortOn } from "../effort.ts";
import { type Answer, type Discovered, discoverListed, itemsOf, modelFacts, refusalOf, tokens } from "../facts.ts";
import { withoutNPredict } from "../fields.ts";
import { PERHAPS, PROMPT_GOES_ON } from "../resume.ts";
import { pasteable } from "../widen.ts";

/**
 * LM Studio. It answers 200 to paths that it does not know, so only the shape of an answer tells anything.
 * Source: lmstudio-ai/docs `2_rest/{endpoints,list}`, `3_openai-compat`; bug tracker 618, 2085 (200 for anything), 2304 (stale list).
 */
export const lmstudio: Dialect = {
  name: "lmstudio",
  wires: ["chat", "completions", "responses", "messages"],

  async detect(query) {
    const [v1, v0] = await Promise.all([
      query("GET", "root", "/api/v1/models"),
      query("GET", "root", "/api/v0/models"),
    ]);
    return (
      modelsOf(v1) !== null || itemsOf(v0)?.some((model) => typeof model.state === "string") === true || knowsNot(v1)
    );
  },

  discover,

  // `max_completion_tokens` is not documented, but not known to be ignored either.
  capField: withoutNPredict,
  unlimitedCap: true,
  capCountsReasoning: true,
  usageOption: true,
  usageAlways: false,
  keepsReplies: true,
  hidesCuts: [],
  // The overflow policy of the app may be `truncateMiddle` or `rollingWindow`, and is not settable over REST (532).
  truncatesSilently: true,

  // Whether a trailing assistant message is resumed depends on engine, version and template; the docs are silent.
  // `/v1/completions` applies no template.
  resume: (wire) => (wire === "completions" ? PROMPT_GOES_ON : PERHAPS),
  // `reasoning_effort: "none"` is taken (bug tracker 2335).
  effort: (wire, _model, body, step) => effortOn(wire, body, step, ["none", "low", "medium", "high"]),
  widen: (model) => `lms unload ${pasteable(model)} && lms load ${pasteable(model)} --context-length 32768`,
};

/** Loaded instances (0.4), else loaded models (0.3), else bare names. */
async function discover(query: Query): Promise<Discovered> {
  const v1 = await query("GET", "root", "/api/v1/models");
  const native = modelsOf(v1);
  if (native !== null) return { models: native.flatMap(instancesOf) };
  const v0 = await query("GET", "root", "/api/v0/models");
  const older = itemsOf(v0);
  if (older !== null) return { models: older.flatMap(olderModel) };
  return refusalOf(v1) ?? discoverListed(query, (_item, id) => modelFacts([id], { doubtful: true, provisional: true }));
}

/** `{models: [{key, loaded_instances: [...]}]}` */
function modelsOf(answer: Answer): JsonObject[] | null {
  const models = itemsOf(answer, "models");
  return models?.every((model) => Array.isArray(model.loaded_instances)) === true ? models : null;
}

/** `{"error":"Unexpected endpoint or method. (GET /api/v1/models)"}`: nobody else says so. */
function knowsNot(answer: Answer): boolean {
  return asString(asObject(answer?.json)?.error)?.startsWith("Unexpected endpoint or method.") === true;
}

/**
 * One entry per loaded instance, for a request may address it by its own id. The model's key stands for its only instance,
 * and where there are several and none bears the key, for the smallest: nobody can say which of them will answer.
 */
function instancesOf(model: JsonObject): ModelFacts[] {
  const key = asString(model.key);
  if (key === undefined) return [];
  const common = {
    trained: tokens(model.max_context_length),
    reasoning: reasons(model),
    doubtful: true,
  } as const;
  const instances = asArray(model.loaded_instances)
    .filter(isObject)
    .map((instance) => ({
      id: asString(instance.id) ?? key,
      window: tokens(asObject(instance.config)?.context_length),
    }));
  const [only, ...more] = instances;
  if (only === undefined) return [modelFacts([key], { ...common, provisional: true })];
  if (more.length === 0) return [modelFacts([only.id, key], { ...common, window: only.window })];
  const each = instances.map(({ id, window }) => modelFacts([id], { ...common, window }));
  if (instances.some(({ id }) => id === key)) return each;
  const smallest = instances.reduce((a, b) => ((b.window ?? Infinity) < (a.window ?? Infinity) ? b : a));
  return [modelFacts([key], { ...common, window: smallest.window }), ...each];
}

/** `capabilities.reasoning.default` is `on` for models that think unless told not to. */
function reasons(model: JsonObject): boolean | null {
  const reasoning = asObject(asObject(model.capabilities)?.reasoning);
  return reasoning === undefined ? null : reasoning.default !== "off";
}

/** `{id, state: "loaded" | "not-loaded", max_context_length, loaded_context_length?}` */
function olderModel(model: JsonObject): ModelFacts[] {
  const id = asString(model.id);
  if (id === undefined) return [];
  const loaded = model.state === "loaded";
  return [
    modelFacts([id], {
      window: loaded ? tokens(model.loaded_context_length) : null,
      trained: tokens(model.max_context_length),
      provisional: !loaded,
      doubtful: true,
    }),
  ];
}
