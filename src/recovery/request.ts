import type { JsonObject } from "../core/json.ts";
import { type Block, type Reply, textOf } from "../core/reply.ts";
import type { Discard, Seam } from "../stitch/seam.ts";
import type { Lessons } from "../upstream/knowledge.ts";
import { completions } from "../wire/completions/completions.ts";
import type { Compose, Wire } from "../wire/wire.ts";
import { FormatSeam } from "./format-seam.ts";
import type { Job } from "./job.ts";
import type { Corrections } from "./learn.ts";
import { rawBody, resumeRaw } from "./raw/resume.ts";
import { isWholeTurn, type Send } from "./state.ts";
import { again } from "./strategies/again.ts";
import { carry } from "./strategies/carry.ts";
import type { Join } from "./strategies/join.ts";
import { nudge } from "./strategies/nudge.ts";
import { prefill } from "./strategies/prefill.ts";
import { answerOf } from "./think.ts";

/** One pass as it goes out, and what its beginning must be joined to. */
export interface PassRequest extends Pick<Join, "seam" | "channel" | "ears" | "calls" | "unproven"> {
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
  /** The turn is resumed on the completion endpoint. */
  readonly raw: boolean;
}

/** What a pass is made from, beside the job: what was learned, and the reply so far. */
export interface Before {
  readonly lessons: Lessons;
  readonly corrections: Corrections;
  readonly known: Reply;
  /** The calls of the turn that was cut, the last of them open. */
  readonly calls: readonly Block[];
  /** Why the last answer to a nudge could not be joined. */
  readonly after: Discard | null;
  /** Number of this pass, from 1. */
  readonly pass: number;
}

/** The client's own bytes, where a pass changes nothing of them, or only asks for usage; null: they must be written anew. */
export function asItCame(job: Job, send: Send, lessons: Lessons, corrections: Corrections): PassRequest | null {
  const { ask, wire, plan, bytes } = job;
  if ((send.strategy !== "first" && send.strategy !== "retry") || send.hint !== null || send.effort !== null)
    return null;
  if (!ask.verbatim || plan.thinkingBudget !== null) return null;
  if (capOf(job, send, corrections, lessons.capField) !== null) return null;
  const usage = wantsUsage(job, lessons);
  if (usage && ask.body.stream_options !== undefined) return null;
  return {
    wire,
    path: `${job.server.v1}${wire.path}`,
    body: usage ? withUsage(bytes) : bytes,
    cap: ask.cap?.tokens ?? null,
    added: usage ? USAGE_FIELDS : NONE,
    effort: false,
    dropUsage: usage,
    raw: false,
    seam: null,
    channel: "text",
    ears: null,
    calls: NONE,
    unproven: false,
  };
}

const NONE: readonly never[] = [];
const USAGE_FIELDS = ["stream_options"];
const ASKS_USAGE = Buffer.from('"stream_options":{"include_usage":true},');

/** The JSON of an object that has fields, with one more in front. */
function withUsage(json: Buffer): Buffer {
  const begin = json.indexOf("{") + 1;
  return Buffer.concat([json.subarray(0, begin), ASKS_USAGE, json.subarray(begin)]);
}

/** Builds the request of a pass from the untouched first ask. null: it cannot be made, for the server does not render what it needs. */
export async function passRequest(job: Job, send: Send, before: Before): Promise<PassRequest | null> {
  const { ask, wire } = job;
  const { lessons } = before;
  const join = await joinOf(job, send, before);
  if (join === null) return null;
  const cap = capOf(job, send, before.corrections, lessons.capField);
  const usage = wantsUsage(job, lessons);
  const format = ask.structured !== null && !isWholeTurn(send);
  const tokens = cap?.tokens ?? ask.cap?.tokens ?? null;
  const common = {
    cap: tokens,
    seam: join.seam !== null && format && join.channel === "text" ? inFormat(before.known, join.seam) : join.seam,
    channel: join.channel,
    ears: join.ears,
    calls: join.calls,
    // A grammar that begins anew, though no format was asked for, shows that the message is not resumed either.
    unproven: join.unproven || (format && send.strategy !== "nudge"),
  };
  if (join.raw !== null)
    return {
      ...common,
      wire: completions,
      path: `${job.server.v1}${completions.path}`,
      body: JSON.stringify(rawBody(ask, join.raw, tokens, ask.stream && (usage || ask.wantsUsage))),
      added: [],
      effort: false,
      dropUsage: false,
      raw: true,
    };
  const effort =
    send.effort === null || lessons.effortRefused
      ? null
      : job.dialect.effort(wire.name, ask.model, ask.body, send.effort);
  const set: JsonObject = { ...(usage ? { stream_options: { include_usage: true } } : {}), ...effort };
  for (const [field, value] of Object.entries(join.set))
    if (!lessons.optionsRefused.includes(field)) set[field] = value;
  const compose: Compose = {
    cap,
    thinkingBudget: send.strategy === "first" || send.strategy === "retry" ? job.plan.thinkingBudget : null,
    how: join.how,
    partial: join.partial,
    nudge: join.nudge,
    mark: join.mark,
    set,
    without: [...join.without, ...(format ? [wire.formatField] : [])],
  };
  const own = Object.keys(set).filter((field) => ask.body[field] === undefined || join.set[field] !== undefined);
  return {
    ...common,
    wire,
    path: join.path ?? `${job.server.v1}${wire.path}`,
    body: JSON.stringify(wire.compose(ask, compose)),
    added: own,
    effort: effort !== null,
    dropUsage: usage,
    raw: false,
  };
}

/** Remembers ways of continuing apart for what changes them. */
export function resumeKey(job: Job): string {
  return `${job.wire.name}|${job.ask.tools.length > 0 ? "tools" : ""}|${job.ask.structured === null ? "" : "format"}`;
}

function joinOf(job: Job, send: Send, before: Before): Join | null | Promise<Join | null> {
  const { known, calls, after, lessons, pass } = before;
  switch (send.strategy) {
    case "first":
    case "retry":
    case "reask":
      return again(job, send, calls.length > 1);
    case "prefill":
      return prefill(job, known, lessons.resumes[resumeKey(job)] === "works");
    case "raw":
      return resumeRaw(job, known, [], pass);
    case "nudge":
      return nudge(known, after);
    case "parts":
      return send.by === "raw" ? resumeRaw(job, known, calls, pass) : carry(job, calls, after, lessons.optionsRefused);
    default:
      return send.strategy satisfies never;
  }
}

function inFormat(known: Reply, seam: Seam): Seam {
  return new FormatSeam(answerOf(textOf(known)), seam);
}

function wantsUsage({ ask, heal, dialect, wire }: Job, lessons: Lessons): boolean {
  const has = wire.name === "chat" || wire.name === "completions";
  const takes = dialect.usageOption && !lessons.optionsRefused.includes("stream_options");
  return ask.stream && heal && !ask.wantsUsage && has && takes;
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
