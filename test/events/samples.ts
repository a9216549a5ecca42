import type { Attempt } from "../../src/core/cut.ts";
import type { Event, Live } from "../../src/events/event.ts";

type Finished = Extract<Event, { readonly type: "finished" }>;

/** A request that ended whole, but for what a test says of it. */
export function finished(more: Partial<Finished> = {}): Finished {
  return {
    type: "finished",
    id: "r1",
    model: "m",
    wire: "chat",
    upstream: "local",
    outcome: "complete",
    cause: null,
    code: null,
    ms: 12,
    promptTokensEstimated: 100,
    countMethod: "estimate;bound=5",
    promptTokens: 80,
    completionTokens: 20,
    billedPromptTokens: 160,
    billedCompletionTokens: 25,
    attempts: 1,
    ...more,
  };
}

export function attempt(more: Partial<Attempt> = {}): Attempt {
  return {
    strategy: "first",
    cap: 64,
    finish_reason: "length",
    prompt_tokens: 80,
    completion_tokens: 64,
    bytes: 900,
    ms: 5,
    seam: null,
    result: "cut",
    ...more,
  };
}

export function live(more: Partial<Live> = {}): Live {
  return {
    id: "r1",
    model: "m",
    wire: "chat",
    upstream: "local",
    stream: true,
    startedAt: 0,
    phase: "flowing",
    window: 4096,
    promptTokens: 100,
    countMethod: "estimate;bound=5",
    capSent: 64,
    bytes: 0,
    tokens: 0,
    cuts: [],
    attempts: [],
    ...more,
  };
}
