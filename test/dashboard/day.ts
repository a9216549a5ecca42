import type { Outcome } from "../../src/core/cut.ts";
import type { Live } from "../../src/events/event.ts";
import type { Services } from "../../src/services.ts";
import { attempt, finished, live } from "../events/samples.ts";

type Finished = ReturnType<typeof finished>;

/** A request that is under way on the board; its numbers may be changed as its own exchange would. */
export function begin(services: Services, more: Partial<Live>): Live {
  const request = live({ startedAt: performance.now(), ...more });
  services.board.begin(request);
  return request;
}

/** Its end, as the bus would tell of it. */
export function end(services: Services, request: Live, more: Partial<Finished> = {}): void {
  const { id, model, wire, upstream, promptTokens } = request;
  services.bus.emit(
    finished({
      id,
      model,
      wire,
      upstream,
      promptTokens,
      completionTokens: request.tokens,
      ms: performance.now() - request.startedAt,
      attempts: request.attempts.length,
      ...more,
    }),
  );
}

/** One ended request of each outcome, with the attempts that lead to it. */
export function oneOfEach(services: Services, model: string): void {
  const first = attempt({ strategy: "first", cap: 1024, completion_tokens: 1024, ms: 4200, bytes: 61_000 });
  const whole = attempt({
    strategy: "prefill",
    cap: 4096,
    completion_tokens: 700,
    ms: 2900,
    bytes: 42_000,
    result: "whole",
    finish_reason: "stop",
    seam: { overlap: 0, dropped: 0 },
  });
  const cases: Record<Outcome, { live?: Partial<Live>; end?: Partial<Finished> }> = {
    complete: {
      live: { tokens: 310, attempts: [{ ...first, result: "whole", finish_reason: "stop", completion_tokens: 310 }] },
    },
    healed: {
      live: { tokens: 1724, cuts: [1024], attempts: [first, whole], window: 8192 },
      end: { cause: "reply_cap", ms: 7350 },
    },
    cut_off: { live: { tokens: 1024, cuts: [1024], attempts: [first] }, end: { cause: "context_full" } },
    malformed: { live: { tokens: 60, attempts: [{ ...first, result: "whole", finish_reason: "stop" }] } },
    rejected: { end: { code: "context_length_exceeded", promptTokens: 9321, completionTokens: null } },
    failed: {
      live: { attempts: [{ ...first, result: "refused", finish_reason: null, completion_tokens: null }] },
      end: { code: "upstream_unreachable", completionTokens: null },
    },
    canceled: {
      live: { tokens: 12, attempts: [{ ...first, result: "aborted", finish_reason: null, completion_tokens: null }] },
    },
  };
  for (const [outcome, { live: more, end: told }] of Object.entries(cases)) {
    const request = begin(services, {
      id: `${outcome}-1`,
      model,
      window: 4096,
      promptTokens: 900,
      capSent: 1024,
      ...more,
    });
    end(services, request, { outcome: outcome as Outcome, ...told });
  }
}
