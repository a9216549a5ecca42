import type { Policy } from "../config/policy.ts";
import type { Ask } from "../core/ask.ts";
import { type Failure, failure } from "../core/error.ts";
import type { Over } from "../core/over.ts";
import { soon } from "../core/soon.ts";
import type { Plan } from "../recovery/job.ts";
import type { Dialect } from "../upstream/dialect.ts";
import type { Server } from "../upstream/server.ts";
import type { Wire } from "../wire/wire.ts";
import { type Count, type Counter, ceilingCount, type Target } from "./count.ts";
import { fitsSurely, type PlanInput, plan, straddles } from "./plan.ts";
import { shorten } from "./shorten.ts";
import type { Known, Windows } from "./window.ts";

export interface Admission extends Plan {
  readonly known: Known;
  /** `exact`, `estimate;bound=N`, `ceiling`; null: not counted. */
  readonly method: string | null;
  readonly refusal: Failure | null;
  /** The request as it may be sent: the client's own, or with a shortened history. */
  readonly ask: Ask;
  /** `x-lastword-*` headers that tell of the budget. */
  readonly headers: Record<string, string>;
}

export interface Applicant {
  readonly wire: Wire;
  readonly ask: Ask;
  readonly policy: Policy;
  readonly server: Server;
  readonly dialect: Dialect;
  /** The client's cap is meant: what it is shown ends there. */
  readonly strict: boolean;
  readonly heal: boolean;
  readonly authorization: string | null;
  /** Length of the body as it came. */
  readonly bytes: number;
  /** Ends what is asked of the server for this request. */
  readonly over: Over;
}

/**
 * Decides before dispatch what may be sent. Three ways to count, the cheapest that decides: the byte length, an estimate with its bound, the
 * server's own counter where the bound straddles a decision.
 */
export function admit(services: Counting, of: Applicant): Admission | Promise<Admission> {
  return soon(judge(services, of), (admission) => {
    if (admission.refusal?.code !== "context_length_exceeded" || of.policy.overflow !== "compact") return admission;
    return compacted(services, of, admission).then((shorter) => shorter ?? admission);
  });
}

interface Counting {
  readonly windows: Windows;
  readonly counter: Counter;
}

/** Tokens beyond what is missing, so that an estimate that is a little off does not miss again. */
const SPARE = 128;
/** Shortening once should do; a second time makes up for an estimate. */
const SHORTENINGS = 2;

/** The same request with less of its history, or null where that does not make it fit. */
async function compacted(services: Counting, of: Applicant, refused: Admission): Promise<Admission | null> {
  let admission = refused;
  let missing = 0;
  for (let tries = 0; tries < SHORTENINGS; tries++) {
    const { known, prompt } = admission;
    const window = known.window ?? known.maxInput ?? known.trained;
    if (window === null || prompt === null) return null;
    missing += prompt.tokens + prompt.bound + of.policy.minReplyTokens + SPARE - window;
    const shorter = await shorten(of.wire, of.ask, services.counter, admission.target, missing);
    if (shorter === null) return null;
    const { dropped, shortened } = shorter;
    const bytes = Buffer.byteLength(JSON.stringify(shorter.ask.body));
    admission = await judge(services, { ...of, ask: shorter.ask, bytes });
    if (admission.refusal !== null) continue;
    const told = { "x-lastword-compacted": `dropped=${dropped};shortened=${shortened}` };
    return { ...admission, compacted: { dropped, shortened }, headers: { ...admission.headers, ...told } };
  }
  return null;
}

function judge({ windows, counter }: Counting, of: Applicant): Admission | Promise<Admission> {
  const { ask, policy, server } = of;
  return soon(windows.known(server, ask.model, policy, of.authorization), (known) => {
    const target = { upstream: server.name, model: ask.model, bodyBytes: of.bytes };
    const input = inputOf(of, known);
    const counting = limitsPrompt(known) ? counted(counter, of, input, target) : null;
    return soon(counting, (count) => admissionOf(of, known, input, target, count));
  });
}

function admissionOf(of: Applicant, known: Known, input: PlanInput, target: Target, count: Count | null): Admission {
  const { wire, ask, dialect } = of;
  const planned = plan({ ...input, count });
  const sent = planned.do === "send" ? (planned.cap ?? input.asked) : null;
  const reason = planned.do === "send" ? planned.reason : "none";
  const method = count === null ? null : count.method === "estimate" ? `estimate;bound=${count.bound}` : count.method;
  const field = ask.cap?.field ?? wire.capField;
  return {
    known,
    ask,
    compacted: null,
    method,
    prompt: count,
    target,
    cap:
      planned.do === "send" && planned.cap !== null
        ? { field: dialect.capField(wire.name, field, ask.model), tokens: planned.cap }
        : null,
    reason,
    thinkingBudget: planned.do === "send" ? planned.thinkingBudget : null,
    refusal:
      ask.unlimited && !dialect.unlimitedCap
        ? noUnlimited(of, field)
        : planned.do === "reject"
          ? planned.failure
          : null,
    headers: headersOf(known, count, method, input.asked, sent, reason),
  };
}

/** Something is known that a prompt could be too long for. */
function limitsPrompt(known: Known): boolean {
  return known.window !== null || known.maxInput !== null || known.trained !== null;
}

function counted(counter: Counter, of: Applicant, input: PlanInput, target: Target): Count | Promise<Count> {
  const pieces = of.wire.pieces(of.ask.body);
  const most = ceilingCount(pieces, target);
  if (fitsSurely({ ...input, count: most })) return most;
  return soon(counter.count(pieces, target), (estimate) => {
    if (of.dialect.count === undefined || !straddles({ ...input, count: estimate })) return estimate;
    const asking = of.dialect.count(of.server.query(of.authorization, of.over.signal), of.ask, of.ask.body);
    return asking.then((exact) => {
      if (exact === null) return estimate;
      counter.learn(estimate, target, exact);
      const { parts, evidence } = estimate;
      return { tokens: exact, bound: 0, method: "exact", parts, evidence };
    });
  });
}

function inputOf(of: Applicant, known: Known): PlanInput {
  const { wire, ask, policy, dialect } = of;
  return {
    wire: wire.name,
    count: null,
    window: known.window,
    source: known.source,
    trained: known.trained,
    maxInput: known.maxInput,
    maxOutput: known.maxOutput,
    asked: ask.cap?.tokens ?? null,
    thinkingBudget: ask.thinkingBudget,
    reasons: known.reasoning && dialect.capCountsReasoning,
    binding: of.strict && !endsText(of),
    overflowIsTold: !dialect.truncatesSilently,
    minReplyTokens: policy.minReplyTokens,
    reasoningAllowanceTokens: policy.reasoningAllowanceTokens,
    honourCapsUpTo: policy.honourCapsUpTo,
    fix: dialect.widen(ask.model),
  };
}

/**
 * Visible text can be told from thought, and ended where the client's cap is used up: not where the reply goes by untouched, nor where
 * the model is given a bare prompt and all that it writes is the text.
 */
function endsText({ heal, wire, dialect }: Applicant): boolean {
  return heal && (wire.name !== "completions" || dialect.completesTurns === true);
}

function noUnlimited({ server }: Applicant, field: string): Failure {
  return failure(
    "invalid_request",
    `${field} of -1 means nothing to the upstream ${server.name}: leave it out for no cap.`,
    {},
    field,
  );
}

function headersOf(
  known: Known,
  count: Count | null,
  method: string | null,
  asked: number | null,
  sent: number | null,
  reason: Plan["reason"],
): Record<string, string> {
  const headers: Record<string, string> = { "x-lastword-window-source": known.source };
  if (known.window !== null) headers["x-lastword-window"] = String(known.window);
  if (count !== null && method !== null) {
    headers["x-lastword-prompt-tokens"] = String(count.tokens);
    headers["x-lastword-count-method"] = method;
  }
  if (asked !== null) headers["x-lastword-cap"] = `asked=${asked};sent=${sent ?? asked};reason=${reason}`;
  return headers;
}
