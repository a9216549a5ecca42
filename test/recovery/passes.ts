import type { Ask } from "../../src/core/ask.ts";
import type { FinishKind, Part, Usage } from "../../src/core/part.ts";
import { emptyReply, take } from "../../src/core/reply.ts";
import type { PassFacts } from "../../src/recovery/evidence.ts";

export const R = (text: string): Part => ({ kind: "reasoning", block: 0, text });
export const D = (text: string): Part => ({ kind: "text", block: 0, text });
export const T = (block: number, name: string, args: string): Part => ({
  kind: "tool",
  block,
  id: `call_${block}`,
  name,
  args,
});
export const SEALED: Part = { kind: "sealed_reasoning", block: 0 };

/** Words as upstreams send them. */
const KINDS: Record<string, FinishKind> = {
  stop: "done",
  length: "cap",
  tool_calls: "tools",
  model_context_window_exceeded: "window",
  content_filter: "filter",
  pause_turn: "pause",
  error: "error",
  eos: "other",
};

function usage(prompt: number | null, completion: number | null, reasoning: number | null = null): Usage {
  return { prompt, completion, reasoning, raw: {} };
}

export interface Ended {
  finish?: string;
  /** [prompt, completion, reasoning] */
  usage?: [number | null, number | null, number?];
  end?: PassFacts["end"];
  cap?: number | null;
  reason?: PassFacts["cap"]["reason"];
  window?: number;
  sure?: boolean;
  counted?: [number | null, number | null];
  hidesCuts?: boolean;
  silent?: boolean;
}

/** A pass that said these parts and then ended so; the cap sent is 1000 tokens where nothing else is said. */
export function pass(parts: readonly Part[], ended: Ended): PassFacts {
  const reply = emptyReply();
  for (const part of parts) take(reply, part);
  const kind = ended.finish === undefined ? undefined : KINDS[ended.finish];
  return {
    reply,
    silent: ended.silent ?? parts.length === 0,
    finish: ended.finish === undefined || kind === undefined ? null : { kind, raw: ended.finish },
    usage: ended.usage === undefined ? null : usage(...ended.usage),
    end: ended.end ?? "terminal",
    cap: { sent: ended.cap === undefined ? 1000 : ended.cap, reason: ended.reason ?? "none" },
    window: { tokens: ended.window ?? null, sure: ended.sure ?? true },
    counted: { prompt: ended.counted?.[0] ?? null, completion: ended.counted?.[1] ?? null },
    hidesCuts: ended.hidesCuts ?? false,
  };
}

export function ask(with_: Partial<Pick<Ask, "tools" | "structured">> = {}): Ask {
  return {
    wire: "chat",
    body: {},
    model: "m",
    stream: true,
    cap: null,
    unlimited: false,
    verbatim: true,
    thinkingBudget: null,
    stop: [],
    tools: [],
    structured: null,
    wantsUsage: false,
    logprobs: false,
    n: 1,
    unhealable: null,
    ...with_,
  };
}
