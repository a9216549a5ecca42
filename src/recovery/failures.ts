import type { WireName } from "../core/ask.ts";
import { type Failure, failure } from "../core/error.ts";
import type { Job } from "./job.ts";

export function stallFailure(job: Job, limit: "first_byte" | "idle", seconds: number): Failure {
  const what = limit === "first_byte" ? "no output" : "nothing more";
  return failure("upstream_stalled", `The upstream ${job.server.name} sent ${what} for ${seconds} s.`, {
    limit: limit === "first_byte" ? "firstByteSeconds" : "idleSeconds",
    seconds,
  });
}

export function deadlineFailure(job: Job): Failure {
  return failure("deadline_exceeded", `The deadline of ${job.deadlineSeconds} s has passed.`, {
    deadline_seconds: job.deadlineSeconds,
    attempts: job.live.attempts.length + 1,
  });
}

/** lastword itself stops, and the reply has not ended in the time that it had for that. */
export function stoppingFailure(drainSeconds: number): Failure {
  return failure("deadline_exceeded", `lastword is stopping, and gave running replies ${drainSeconds} s to end.`, {
    drain_seconds: drainSeconds,
  });
}

/** The prompt does not fit, as the server showed by its silence or by its own numbers. */
export function overflowFailure(job: Job, prompt: number | null, window: number | null): Failure {
  const facts = { window, prompt_tokens: prompt, requested: job.ask.cap?.tokens ?? null };
  const fix = `To fix it: shorten the prompt, or ${job.dialect.widen(job.ask.model)}.`;
  if (job.wire.name === "messages")
    return failure(
      "context_length_exceeded",
      `prompt is too long: ${prompt ?? "?"} tokens > ${window ?? "?"} maximum, as the upstream ${job.server.name} counts. ${fix}`,
      facts,
    );
  const maximum = window === null ? "smaller than this request" : `${window} tokens`;
  const resulted = prompt === null ? "more than fits" : `${prompt} tokens`;
  return failure(
    "context_length_exceeded",
    `This model's maximum context length is ${maximum}. However, your messages resulted in ${resulted}, as the upstream ${job.server.name} counts. ${fix}`,
    facts,
    PROMPT_FIELDS[job.wire.name],
  );
}

/** The field that holds the prompt. */
const PROMPT_FIELDS: Readonly<Record<WireName, string>> = {
  chat: "messages",
  completions: "prompt",
  responses: "input",
  messages: "messages",
};

/** The upstream does not speak this wire. */
export function wireFailure(upstream: string, wire: WireName, speaks: readonly WireName[]): Failure {
  const serves = speaks.filter((name) => name !== wire);
  return failure(
    "wire_not_supported",
    `The upstream ${upstream} does not serve ${PATHS[wire]}. It serves ${serves.map((name) => PATHS[name]).join(", ")}.`,
    { upstream, serves },
  );
}

const PATHS: Readonly<Record<WireName, string>> = {
  chat: "/v1/chat/completions",
  completions: "/v1/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
};
