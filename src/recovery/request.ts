import type { JsonObject } from "../core/json.ts";
import { type Reply, reasoningOf, textOf } from "../core/reply.ts";
import { prepareNudge } from "../stitch/anchor.ts";
import { type Discard, openSeam, type Seam } from "../stitch/seam.ts";
import type { Compose, Wire } from "../wire/wire.ts";
import type { Job, Shared } from "./job.ts";
import type { Corrections } from "./learn.ts";
import type { Send } from "./state.ts";

/** One pass as it goes out, and what its beginning must be joined to. */
export interface PassRequest {
  /** The wire that the upstream answers in. */
  readonly wire: Wire;
  readonly path: string;
  readonly body: Buffer | string;
  /** Tokens sent as the cap; null: none. */
  readonly cap: number | null;
  /** Top-level fields that lastword added. */
  readonly added: readonly string[];
  readonly effort: boolean;
  /** Usage comes only because lastword asked for it. */
  readonly dropUsage: boolean;
  readonly seam: Seam | null;
  /** What the seam joins. */
  readonly channel: "text" | "reasoning";
  /** The server is believed, not known, to resume: a restart proves that it does not. */
  readonly unproven: boolean;
}

/** Builds the request of a pass from the untouched first ask. `after`: why the last answer to a nudge could not be joined. */
export function passRequest(
  job: Job,
  shared: Shared,
  send: Send,
  corrections: Corrections,
  known: Reply,
  after: Discard | null,
): PassRequest {
  const { ask, wire, dialect } = job;
  const lessons = shared.knowledge.of(job.server.name, ask.model);
  const set: JsonObject = {};
  const added: string[] = [];
  const usage =
    ask.stream &&
    job.heal &&
    !ask.wantsUsage &&
    dialect.usageOption &&
    !lessons.optionsRefused.includes("stream_options");
  if (usage && (wire.name === "chat" || wire.name === "completions")) {
    set.stream_options = { include_usage: true };
    added.push("stream_options");
  }
  const effort = send.effort === null ? null : dialect.effort(wire.name, ask.model, ask.body, send.effort);
  for (const [field, value] of Object.entries(effort ?? {})) {
    set[field] = value;
    if (ask.body[field] === undefined) added.push(field);
  }
  const join = joinOf(job, send.strategy, known, after, lessons.resumes[resumeKey(job)] === "works");
  Object.assign(set, join.set);
  added.push(...Object.keys(join.set).filter((field) => ask.body[field] === undefined));
  const cap = capOf(job, send, corrections, lessons.capField);
  const compose: Compose = {
    cap,
    thinkingBudget: send.strategy === "first" || send.strategy === "retry" ? job.plan.thinkingBudget : null,
    how: join.how,
    partial: join.partial,
    nudge: join.nudge,
    mark: join.mark,
    set,
    without: join.how === "asked" || ask.structured === null ? [] : [wire.formatField],
  };
  const untouched =
    ask.verbatim &&
    cap === null &&
    compose.thinkingBudget === null &&
    join.how === "asked" &&
    Object.keys(set).length === 0;
  return {
    wire,
    path: join.path === null ? `${job.server.v1}${wire.path}` : `${job.server.root}${join.path}`,
    body: untouched ? job.bytes : JSON.stringify(wire.compose(ask, compose)),
    cap: cap?.tokens ?? ask.cap?.tokens ?? null,
    added,
    effort: effort !== null,
    dropUsage: usage,
    seam: join.seam,
    channel: join.channel,
    unproven: join.unproven,
  };
}

/** Remembers ways of continuing apart for what changes them. */
export function resumeKey(job: Job): string {
  return `${job.wire.name}|${job.ask.tools.length > 0 ? "tools" : ""}|${job.ask.structured === null ? "" : "format"}`;
}

interface Join {
  readonly how: Compose["how"];
  readonly partial: Compose["partial"];
  readonly nudge: string;
  readonly mark: JsonObject;
  readonly set: JsonObject;
  readonly seam: Seam | null;
  readonly channel: "text" | "reasoning";
  readonly unproven: boolean;
  /** Below the server's root, where such a request goes elsewhere; null: the wire's own path. */
  readonly path: string | null;
}

const AS_ASKED: Join = {
  how: "asked",
  partial: null,
  nudge: "",
  mark: {},
  set: {},
  seam: null,
  channel: "text",
  unproven: false,
  path: null,
};

function joinOf(job: Job, strategy: string, known: Reply, after: Discard | null, proven: boolean): Join {
  const text = textOf(known);
  const reasoning = reasoningOf(known);
  if (strategy === "prefill") {
    const resume = job.dialect.resume(job.wire.name, job.ask.model, job.ask);
    if (resume === null) return AS_ASKED;
    const thought = text === "";
    const trimmed = resume.trimsTail && !thought ? (/\s*$/.exec(text)?.[0] ?? "") : "";
    const sent = thought ? reasoning : text;
    return {
      how: "resume",
      partial: {
        text: thought ? "" : text.slice(0, text.length - trimmed.length),
        reasoning: thought || resume.thoughts ? reasoning : "",
      },
      nudge: "",
      mark: resume.mark,
      set: thought ? resume.setThought : resume.set,
      seam: openSeam({
        strategy: "prefill",
        sent,
        trimmed,
        echo: resume.echo === "plain" && job.ask.stream ? "never" : resume.echo,
        sure: resume.sure || proven,
      }),
      channel: thought ? "reasoning" : "text",
      unproven: !resume.sure && !proven,
      path: resume.path ?? null,
    };
  }
  if (strategy === "nudge" && text !== "") {
    const nudge = prepareNudge(text, after);
    return {
      how: "nudge",
      partial: { text: nudge.partial, reasoning: "" },
      nudge: nudge.instruction,
      mark: {},
      set: {},
      seam: openSeam({
        strategy: "nudge",
        sent: text,
        anchor: nudge.anchor,
        seen: nudge.seen,
      }),
      channel: "text",
      unproven: false,
      path: null,
    };
  }
  return AS_ASKED;
}

/** The cap as it is sent: the client's own field, unless the server is known not to read it. */
function capOf(job: Job, send: Send, corrections: Corrections, learned: string | null): Compose["cap"] {
  const { ask, plan, dialect, wire } = job;
  const field = ask.cap?.field ?? plan.cap?.field ?? wire.capField;
  const fits = corrections.capField ?? learned ?? dialect.capField(wire.name, field, ask.model);
  const first = send.strategy === "first" || send.strategy === "retry";
  const wanted = first ? (plan.cap?.tokens ?? ask.cap?.tokens ?? null) : send.cap;
  if (wanted === null) return null;
  const tokens = corrections.mostCap === null ? wanted : Math.min(wanted, corrections.mostCap);
  // Nothing to change: the client's own field and number stand in its own body.
  return first && tokens === ask.cap?.tokens && fits === field ? null : { field: fits, tokens };
}
