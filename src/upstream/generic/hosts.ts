import type { Ask, WireName } from "../../core/ask.ts";
import { asNumber, asObject, asString, type JsonObject } from "../../core/json.ts";
import { claudePrefills } from "../claude.ts";
import type { Dialect, Query, Resume } from "../dialect.ts";
import { effortOn, lessThinking, type Step } from "../effort.ts";
import { capOf, pick } from "../fields.ts";
import { PROMPT_GOES_ON, TRAILING } from "../resume.ts";

type Host = Partial<Dialect>;

/** What is known of a hosted service; null: not known by name. */
export function hostOf(hostname: string): Host | null {
  const name = hostname.toLowerCase();
  const found = HOSTS.find(([domains]) => domains.some((domain) => name === domain || name.endsWith(`.${domain}`)));
  return found?.[1] ?? null;
}

/** One row a service. Sources: each one's API reference, and where it differs from that, the issue named beside it. */
const HOSTS: readonly (readonly [domains: readonly string[], host: Host])[] = [
  [
    ["deepseek.com"],
    {
      wires: ["chat", "completions", "messages"],
      capField: capOf,
      // `prefix` is part of the beta API only; the thought of the prefixed message is gone on with too.
      resume: (wire) =>
        onChat(wire, { ...TRAILING, mark: { prefix: true }, path: "/beta/chat/completions", thoughts: true }),
      effort: switchedOff({ thinking: { type: "disabled" } }),
    },
  ],
  [
    ["mistral.ai"],
    {
      wires: ["chat"],
      // Unknown fields are a 422.
      capField: capOf,
      usageOption: false,
      usageAlways: true,
      // Without the mark a trailing assistant message is a 400; the reply repeats it (vercel/ai, packages/mistral).
      resume: (wire) => onChat(wire, { ...TRAILING, mark: { prefix: true }, echo: "always" }),
      effort: (wire, _model, body, step) => effortOn(wire, body, step, ["none", "high"]),
    },
  ],
  [
    ["moonshot.ai", "moonshot.cn"],
    {
      wires: ["chat", "messages"],
      resume: (wire) => onChat(wire, { ...TRAILING, mark: { partial: true } }),
      effort: switchedOff({ thinking: { type: "disabled" } }),
    },
  ],
  [
    ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    {
      wires: ["chat", "completions", "responses"],
      // Non-thinking mode only.
      resume: (wire, _model, ask) =>
        ask.body.enable_thinking === true ? null : onChat(wire, { ...TRAILING, mark: { partial: true } }),
      effort: switchedOff({ enable_thinking: false }),
    },
  ],
  [
    ["groq.com"],
    {
      wires: ["chat", "responses"],
      // Documented as "prefilling".
      resume: (wire) => onChat(wire, { ...TRAILING, sure: false }),
      effort: (wire, _model, body, step) => effortOn(wire, body, step, ["low", "medium", "high"]),
    },
  ],
  [
    ["anthropic.com"],
    {
      wires: ["messages", "chat"],
      capField: (wire, field) => (wire === "messages" ? "max_tokens" : field),
      resume: claudeResume,
      count: countMessages,
      effort: (wire, _model, body, step) =>
        wire === "messages" && asObject(body.thinking) !== undefined ? lessThinking(body, step) : null,
    },
  ],
  // Both answer 400 to a conversation that ends with the assistant, or take it as finished.
  [["googleapis.com"], { wires: ["chat"], resume: () => null }],
  [
    ["x.ai"],
    {
      wires: ["chat", "completions", "responses", "messages"],
      resume: (wire) => (wire === "completions" ? PROMPT_GOES_ON : null),
    },
  ],
];

function onChat(wire: WireName, resume: Resume): Resume | null {
  if (wire === "completions") return PROMPT_GOES_ON;
  return wire === "chat" ? resume : null;
}

/** A service that can only be told not to think at all. */
function switchedOff(fields: JsonObject): Dialect["effort"] {
  return (wire, _model, body, step: Step) =>
    step === "lower" || wire === "responses" ? null : wire === "messages" ? lessThinking(body, step) : fields;
}

/** Trailing whitespace is a 400, and so is a prefill while thinking is on. */
function claudeResume(wire: WireName, model: string, ask: Ask): Resume | null {
  const thinking = asString(asObject(ask.body.thinking)?.type) ?? "disabled";
  return wire === "messages" && claudePrefills(model) && thinking === "disabled"
    ? { ...TRAILING, trimsTail: true }
    : null;
}

/** What the counter takes; it refuses what only generation needs. */
const COUNTED = ["model", "messages", "system", "tools", "tool_choice", "thinking"];

async function countMessages(query: Query, ask: Ask, body: JsonObject): Promise<number | null> {
  if (ask.wire !== "messages") return null;
  const answer = await query("POST", "v1", "/messages/count_tokens", pick(body, COUNTED));
  return asNumber(asObject(answer?.json)?.input_tokens) ?? null;
}
