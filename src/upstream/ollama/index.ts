import type { WireName } from "../../core/ask.ts";
import { asArray, asObject, asString, type JsonObject } from "../../core/json.ts";
import type { Dialect, ModelFacts, Query, Resume } from "../dialect.ts";
import { effortOn } from "../effort.ts";
import { type Discovered, itemsOf, least, modelFacts, refusalOf, tokens } from "../facts.ts";
import { capOf } from "../fields.ts";
import { PERHAPS } from "../resume.ts";

/**
 * Ollama. Source: ollama/ollama `openai/openai.go`, `server/{routes,prompt}.go`, `docs/api`.
 */
export const ollama: Dialect = {
  name: "ollama",
  wires: ["chat", "completions", "responses", "messages"],

  async detect(query) {
    const [version, ps] = await Promise.all([query("GET", "root", "/api/version"), query("GET", "root", "/api/ps")]);
    return typeof asObject(version?.json)?.version === "string" && itemsOf(ps, "models") !== null;
  },

  discover,
  inspect,

  // `max_completion_tokens` is not in its request struct: a cap in it would be no cap.
  capField: capOf,
  unlimitedCap: true,
  capCountsReasoning: true,
  completesTurns: true,
  usageOption: true,
  usageAlways: false,
  keepsReplies: false,
  // Its Responses wire says `completed` whatever ended the reply.
  hidesCuts: ["responses"],
  // Drops the oldest messages until the rest fits `num_ctx`.
  truncatesSilently: true,

  resume,
  effort: (wire, _model, body, step) => effortOn(wire, body, step, ["none", "low", "medium", "high", "max"]),
  // `num_ctx` cannot be set through `/v1`.
  widen: () => "OLLAMA_CONTEXT_LENGTH=32768 ollama serve",
};

/**
 * Renderers of newer models leave a trailing assistant turn open but trim its text; older templates vary (5775). Thoughts are
 * closed before the text. `/v1/completions` puts its prompt into the template's user turn: more prompt is no continuation.
 */
function resume(wire: WireName): Resume | null {
  return wire === "completions" ? null : { ...PERHAPS, trimsTail: true };
}

/** All models, those in memory with the window that was allocated. */
async function discover(query: Query): Promise<Discovered> {
  const [tags, ps] = await Promise.all([query("GET", "root", "/api/tags"), query("GET", "root", "/api/ps")]);
  const listed = itemsOf(tags, "models");
  if (listed === null) return refusalOf(tags);
  const windows = new Map<string, number | null>();
  for (const running of itemsOf(ps, "models") ?? []) windows.set(nameOf(running), tokens(running.context_length));
  return {
    models: listed.map((item) => {
      const window = windows.get(nameOf(item)) ?? null;
      return modelFacts(namesOf(nameOf(item)), { window, provisional: window === null });
    }),
  };
}

/** What the model will be loaded with, as far as its file says; the server's own default depends on the machine and is not told. */
async function inspect(query: Query, model: string, listed: ModelFacts | null): Promise<ModelFacts | null> {
  const answer = await query("POST", "root", "/api/show", { model });
  const shown = asObject(answer?.json);
  const info = asObject(shown?.model_info);
  if (shown === undefined || info === undefined) return null;
  const trained = tokens(info[`${asString(info["general.architecture"])}.context_length`]);
  const wanted = tokens(Number(/^num_ctx\s+"?(\d+)/m.exec(asString(shown.parameters) ?? "")?.[1]));
  const capabilities = shown.capabilities;
  return modelFacts(listed?.names ?? namesOf(model), {
    window: wanted === null ? null : least(wanted, trained),
    source: "served",
    trained,
    reasoning: Array.isArray(capabilities) ? asArray(capabilities).includes("thinking") : null,
    provisional: true,
  });
}

function nameOf(item: JsonObject): string {
  return asString(item.model) ?? asString(item.name) ?? "";
}

/** `qwen3` is `qwen3:latest`. */
function namesOf(name: string): string[] {
  return name.endsWith(":latest") ? [name, name.slice(0, -":latest".length)] : [name];
}
