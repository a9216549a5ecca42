import type { Ask, WireName } from "../../core/ask.ts";
import { asNumber, asObject, type JsonObject } from "../../core/json.ts";
import { catalogOf, hosted } from "../catalog.ts";
import type { Dialect, Query } from "../dialect.ts";
import { effortOn, type Step } from "../effort.ts";
import { discoverListed } from "../facts.ts";
import { capOf, pick } from "../fields.ts";
import { PROMPT_GOES_ON } from "../resume.ts";
import { routeElsewhere } from "../widen.ts";

/**
 * OpenAI. Its list has ids only: windows come from the catalog. Known by its host name alone; its list looks like everybody's.
 * Source: openai/openai-openapi 2.3.0.
 */
export const openai: Dialect = {
  name: "openai",
  wires: ["chat", "completions", "responses"],

  detect: () => Promise.resolve(false),
  discover: (query) => discoverListed(query, (_item, id) => hosted([id])),
  // A fine-tune or an alias that the list does not have.
  inspect: (_query, model, listed) =>
    Promise.resolve(listed === null && catalogOf(model) !== null ? hosted([model]) : null),
  count,

  capField,
  unlimitedCap: false,
  capCountsReasoning: true,
  usageOption: true,
  usageAlways: false,
  keepsReplies: true,
  hidesCuts: [],
  truncatesSilently: false,

  // A trailing assistant message is a finished turn.
  resume: (wire) => (wire === "completions" ? PROMPT_GOES_ON : null),
  effort,
  widen: routeElsewhere,
};

/** Reasoning models refuse `max_tokens` with 400 `unsupported_parameter`. */
function capField(wire: WireName, field: string, model: string): string {
  if (wire !== "chat") return capOf(wire);
  return field === "n_predict" || catalogOf(model)?.reasoning === true ? "max_completion_tokens" : field;
}

/** Source: OpenAI's model pages. A name that is not here is not told to think less. */
const EFFORTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^gpt-5(\.\d+)?-pro|chat-latest/, []],
  [/^gpt-5(\.\d+)?-codex|^codex|^o\d/, ["low", "medium", "high"]],
  [/^gpt-5\.\d/, ["none", "low", "medium", "high", "xhigh"]],
  [/^gpt-5/, ["minimal", "low", "medium", "high"]],
];

function effort(wire: WireName, model: string, body: JsonObject, step: Step): JsonObject | null {
  const takes = EFFORTS.find(([name]) => name.test(model))?.[1] ?? [];
  return effortOn(wire, body, step, takes);
}

/** What the Responses counter takes; it refuses what only generation needs. */
const COUNTED = [
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "text",
  "reasoning",
  "truncation",
  "previous_response_id",
  "conversation",
  "parallel_tool_calls",
];

async function count(query: Query, ask: Ask, body: JsonObject): Promise<number | null> {
  if (ask.wire !== "responses") return null;
  const answer = await query("POST", "v1", "/responses/input_tokens", pick(body, COUNTED));
  return asNumber(asObject(answer?.json)?.input_tokens) ?? null;
}
