import type { Strategy } from "../core/cut.ts";
import { type Failure, failure } from "../core/error.ts";
import type { Fault } from "../core/part.ts";
import { lessonOf, plausibleWindow, retryAfterSeconds } from "../upstream/lessons.ts";
import { overflowFailure, wireFailure } from "./failures.ts";
import type { Job, Shared } from "./job.ts";
import type { PassEnd } from "./state.ts";
import type { Headers } from "./transport.ts";

/** How the next requests of this run must differ, by what refusals have taught it. */
export interface Corrections {
  /** Tokens: no cap above this. */
  mostCap: number | null;
  capField: string | null;
  /** Tokens: the prompt as the server counted it. */
  prompt: number | null;
  /** Tokens: the window as the server named it. */
  window: number | null;
}

/** What was sent in the pass that was refused, as far as a lesson needs it. */
export interface Sent {
  readonly strategy: Strategy;
  readonly cap: number | null;
  /** Top-level fields that lastword added. */
  readonly added: readonly string[];
  /** Key under which it is remembered whether this way of asking resumes a message. */
  readonly resumeKey: string;
  readonly effort: boolean;
}

/** An upstream's own answer, relayed where nothing was learned from it. */
export interface Relay {
  readonly fault: Fault;
  readonly headers: Headers;
}

/**
 * What an HTTP error, or an error in a stream before any output, means for the run. Remembers for the model what holds beyond it.
 * `relay` is set in the failure's place where the upstream's own answer is the best there is.
 */
export function learn(
  job: Job,
  shared: Shared,
  sent: Sent,
  fault: Fault,
  headers: Headers,
  corrections: Corrections,
  now: number,
): PassEnd {
  const lesson = lessonOf(fault);
  const lessons = shared.knowledge.of(job.server.name, job.ask.model);
  const until = now + job.policy.windowTtlSeconds * 1000;
  const refused = (transient: boolean): PassEnd => ({
    on: "unbegun",
    transient,
    retryAfter: retryAfterSeconds(headers, fault.message, now),
    failure: failure("upstream_error", `The upstream ${job.server.name} answered with status ${fault.status}.`, {
      upstream_status: fault.status,
    }),
  });
  const taught = (demote = false): PassEnd => ({ on: "lesson", demote, failure: failureOf(refused(false)) });
  const told = (
    fact: "window" | "max_output" | "continue" | "cap_field" | "effort" | "usage_option",
    value: number | string,
  ) => {
    shared.knowledge.changed(job.server.name, job.ask.model);
    shared.bus.emit({ type: "learned", upstream: job.server.name, model: job.model, fact, value, from: "error" });
  };
  switch (lesson.kind) {
    case "overflow": {
      const listed = shared.windows.listing(job.server, job.ask.model);
      const believed =
        lesson.window !== null &&
        plausibleWindow(lesson.window, { listed, served: lessons.served, prompt: lesson.prompt }) &&
        (job.known.window === null || lesson.window < job.known.window);
      // Numbers that contradict the list: the server may have been started anew, and is asked again before the next decision.
      if (lesson.window !== null && !believed) shared.windows.stale(job.server);
      if (believed && lesson.window !== null && job.policy.window === null) {
        lessons.window = lesson.window;
        lessons.windowUntil = until;
        told("window", lesson.window);
      }
      const window = believed ? lesson.window : (job.known.window ?? lesson.window);
      corrections.window = window;
      if (lesson.prompt !== null) corrections.prompt = lesson.prompt;
      return { on: "overflow", ...corrected(job, sent, window, lesson.prompt, corrections) };
    }
    case "cap_too_large":
      lessons.maxOutput = lesson.max;
      lessons.maxOutputUntil = until;
      corrections.mostCap = lesson.max;
      told("max_output", lesson.max);
      return taught();
    case "cap_field":
      lessons.capField = lesson.use;
      corrections.capField = lesson.use;
      told("cap_field", lesson.use);
      return taught();
    case "prefill_refused":
    case "thinking_prefill_refused":
    case "whitespace_refused":
      if (sent.strategy !== "prefill") return refused(false);
      lessons.resumes[sent.resumeKey] = "refused";
      told("continue", "refused");
      return taught(true);
    case "option_refused":
      if (!sent.added.includes(lesson.field)) return refused(false);
      lessons.optionsRefused.push(lesson.field);
      told("usage_option", lesson.field);
      return taught();
    case "effort_refused":
      if (!sent.effort) return refused(false);
      lessons.effortRefused = true;
      told("effort", "refused");
      return taught();
    case "credits":
      // The client's own request would have been judged by its own cap: only what lastword made larger is made smaller again.
      if (
        sent.cap === null ||
        lesson.affordable === null ||
        lesson.affordable < 1 ||
        sent.cap <= (job.ask.cap?.tokens ?? 0)
      )
        return refused(false);
      corrections.mostCap = lesson.affordable;
      return taught();
    case "could_not_finish":
      return {
        on: "cut",
        cause: "reasoning_starved",
        where: "nothing",
        generated: sent.cap ?? 0,
        gained: 0,
        looping: false,
      };
    case "wire_missing":
      if (names(fault.message, job.ask.model)) return refused(false);
      return {
        on: "unbegun",
        transient: false,
        retryAfter: null,
        failure: wireFailure(job.server.name, job.wire.name, job.dialect.wires),
      };
    case "transient":
      return refused(true);
    default:
      return refused(false);
  }
}

/** Whether a message speaks of the model: a 404 is then about that, and not about the path. */
function names(message: string, model: string): boolean {
  const words = message.split(/[^\w./:@-]+/).map((word) => word.replace(/[.:]+$/, ""));
  return model !== "" && words.includes(model);
}

function failureOf(end: PassEnd): Failure {
  return "failure" in end ? end.failure : failure("upstream_error", "The upstream refused.");
}

/** Whether a corrected request fits what the server said, and the typed error where it does not. */
function corrected(
  job: Job,
  sent: Sent,
  window: number | null,
  prompt: number | null,
  corrections: Corrections,
): { readonly fits: boolean; readonly failure: Failure } {
  const tokens = prompt ?? job.plan.prompt?.tokens ?? null;
  const least = Math.min(job.ask.cap?.tokens ?? job.policy.minReplyTokens, job.policy.minReplyTokens);
  const room = window === null || tokens === null ? null : window - tokens;
  // Without a smaller cap the same request would be refused again: it fits only where a cap was the cause.
  const fits = room !== null && room >= least && sent.cap !== null && sent.cap > room;
  if (fits && room !== null) corrections.mostCap = Math.min(room, corrections.mostCap ?? room);
  return { fits, failure: overflowFailure(job, tokens, window) };
}
