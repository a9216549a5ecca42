import type { Ask, WireName } from "./core/ask.ts";
import type { Live } from "./events/event.ts";
import type { Run, RunEnd } from "./recovery/run.ts";
import { billed, joinedUsage } from "./recovery/usage.ts";
import type { Services } from "./services.ts";
import type { Server } from "./upstream/server.ts";

/** One request as the board shows it from its first byte on. */
export function begin(services: Services, wire: WireName, startedAt: number): Live {
  const live: Live = {
    id: services.nextId(),
    model: "unknown",
    wire,
    upstream: "",
    stream: false,
    startedAt,
    phase: "queued",
    window: null,
    promptTokens: null,
    countMethod: null,
    capSent: null,
    bytes: 0,
    tokens: 0,
    cuts: [],
    attempts: [],
  };
  services.board.begin(live);
  return live;
}

/** It is known now what is asked for, and of whom. */
export function name(live: Live, ask: Ask, server: Server): void {
  live.model = ask.model === "" ? "unknown" : ask.model;
  live.upstream = server.name;
  live.stream = ask.stream;
}

/** The one outcome of the request. `run`: null where it never came to one. */
export function finish(services: Services, live: Live, end: RunEnd, run: Run | null): void {
  const spent = run?.spent ?? [];
  const usage = joinedUsage(spent);
  const { prompt_tokens, completion_tokens } = billed(spent);
  services.bus.emit({
    type: "finished",
    id: live.id,
    model: live.model,
    wire: live.wire,
    upstream: live.upstream,
    outcome: end.outcome,
    cause: end.cause,
    code: end.code,
    ms: Math.round(performance.now() - live.startedAt),
    promptTokensEstimated: live.promptTokens,
    countMethod: live.countMethod,
    promptTokens: usage?.prompt ?? null,
    completionTokens: usage?.completion ?? null,
    billedPromptTokens: prompt_tokens,
    billedCompletionTokens: completion_tokens,
    attempts: live.attempts.length,
  });
}

/** Headers of every answer, also of a refusal. */
export function ownHeaders(live: Live): Record<string, string> {
  const headers: Record<string, string> = { "x-lastword-request-id": live.id };
  if (live.upstream !== "") headers["x-lastword-upstream"] = live.upstream;
  return headers;
}
