import { asObject, type JsonObject } from "../../core/json.ts";
import { catalogOf, hosted } from "../catalog.ts";
import type { Dialect, ModelFacts } from "../dialect.ts";
import { effortOn } from "../effort.ts";
import { discoverListed, firstTokens, modelFacts } from "../facts.ts";
import { PROMPT_GOES_ON } from "../resume.ts";
import { pasteable } from "../widen.ts";
import { hostOf } from "./hosts.ts";

/** Any other OpenAI-compatible server: nothing is believed of it but what its list says. */
export const generic: Dialect = {
  name: "generic",
  // Which wires it speaks is found out: a 404 for a missing one is told to the client as it is.
  wires: ["chat", "completions", "responses", "messages"],

  detect: () => Promise.resolve(false),
  discover: (query) => discoverListed(query, modelOf),
  inspect: (_query, model, listed) =>
    Promise.resolve(listed === null && catalogOf(model) !== null ? hosted([model]) : null),

  capField: (_wire, field) => field,
  unlimitedCap: false,
  capCountsReasoning: true,
  usageOption: true,
  usageAlways: false,
  hidesCuts: [],
  truncatesSilently: false,

  resume: (wire) => (wire === "completions" ? PROMPT_GOES_ON : null),
  // A server that was sent an effort by its own client knows the field.
  effort: (wire, _model, body, step) =>
    body.reasoning_effort !== undefined ||
    asObject(body.reasoning) !== undefined ||
    asObject(body.thinking) !== undefined
      ? effortOn(wire, body, step, ["low", "medium", "high"])
      : null,
  widen: (model) => `models: [{ match: "${pasteable(model)}", window: 32768 }]`,
};

/** The same with what is known of a hosted service by its name. */
export function genericAt(hostname: string): Dialect {
  const host = hostOf(hostname);
  return host === null ? generic : { ...generic, ...host };
}

/**
 * The names under which servers list a window, the loaded instance's before the model's: vLLM and its like, LM Studio,
 * llama.cpp, Groq, LiteLLM and many others, Mistral. What the list does not tell may stand in the catalog.
 */
function modelOf(item: JsonObject, id: string): ModelFacts {
  const loaded = firstTokens(item.max_model_len, item.loaded_context_length, asObject(item.meta)?.n_ctx);
  const listed = firstTokens(item.context_window, item.context_length, item.max_context_length);
  const maxOutput = firstTokens(item.max_completion_tokens, item.max_output_tokens);
  const trained = firstTokens(asObject(item.meta)?.n_ctx_train);
  if (loaded !== null) return modelFacts([id], { window: loaded, maxOutput, trained });
  if (listed !== null) return modelFacts([id], { window: listed, source: "served", maxOutput, trained });
  return hosted([id]);
}
