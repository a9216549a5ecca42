import type { IncomingMessage, ServerResponse } from "node:http";
import { type Admission, admit } from "./budget/admit.ts";
import type { Config } from "./config/load.ts";
import { capsFor, policyFor } from "./config/policy.ts";
import { type Failure, failure, Left, outcomeOf, Refused } from "./core/error.ts";
import { Over } from "./core/over.ts";
import { soon } from "./core/soon.ts";
import type { Live } from "./events/event.ts";
import { readBody } from "./http/body.ts";
import { credentials, listOf, requestHeaders } from "./http/headers.ts";
import { objectOf } from "./http/json.ts";
import { type RequestOptions, requestOptions } from "./http/options.ts";
import { type Outlet, SocketOutlet } from "./http/outlet.ts";
import type { Claim, SharedRun } from "./http/replays.ts";
import { answer, sendError } from "./http/respond.ts";
import { begin, finish, name, ownHeaders } from "./record.ts";
import type { Job } from "./recovery/job.ts";
import { placeAt } from "./recovery/place.ts";
import { Run, type RunEnd } from "./recovery/run.ts";
import { type Target, targetElsewhere, targetOf } from "./route.ts";
import type { Services } from "./services.ts";
import type { Fate } from "./state/elsewhere.ts";
import { MOST_STOPS } from "./stitch/stop.ts";
import type { Wire } from "./wire/wire.ts";

/**
 * The spine. One request of a full wire, front to back: read, route, count and plan, run, tell.
 * Whatever happens, exactly one outcome is told to the bus, and the client has one whole answer, one honest end, or one typed error.
 */
export async function exchange(
  services: Services,
  wire: Wire,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const live = begin(services, wire.name, performance.now());
  // A request keeps the configuration with which it came, whatever is reloaded meanwhile.
  const config = services.config();
  let outlet: Outlet = new SocketOutlet(response);
  let shared: SharedRun | null = null;
  let run: Run | null = null;
  const place = { leave: () => {} };
  const over = new Over();
  const leave = () => over.end(new Left());
  const unlist = services.running.add((why) => over.end(new Refused(why)));
  response.on("close", () => {
    // A run that others may attach to is left by its recording, once nobody reads it any more.
    if (!response.writableFinished && shared === null) leave();
  });
  let end: RunEnd;
  try {
    const options = requestOptions(request.headers);
    const bytes = await over.until(readBody(request, config.limits.maxBodyBytes));
    const claim = claimed(services, config, wire, request, bytes);
    if (claim.is === "conflict") throw new Refused(conflict());
    if (claim.is === "same") {
      claim.run.recording.attach(response, true);
      end = await over.until(claim.run.end);
    } else {
      if (claim.run !== null) {
        shared = claim.run;
        outlet = shared.recording;
        shared.recording.attach(response, false);
        shared.onAbandoned(leave);
      }
      const fate = shared === null ? OURS : await over.until(among(services, config, claim.of, shared, over.signal));
      if (fate.is === "conflict") throw new Refused(conflict());
      if (fate.is === "ended") end = fate.end;
      else {
        const enter = (at: Job) =>
          soon(placeAt(config.limits, at, over, services.state?.permits), (taken) => {
            place.leave();
            place.leave = taken;
          });
        const of = { wire, request, options, bytes, outlet, live, over, enter };
        const job = await over.until(prepare(services, config, of));
        const shown = fate.left === null ? null : await fate.left(job.heal && job.ask.stream);
        await enter(job);
        const running = new Run(job, services.shared, shown);
        run = running;
        over.onEnd(() => running.end(over.why));
        end = await run.go();
      }
    }
  } catch (error) {
    const why = over.ended ? over.why : error;
    if (why instanceof Left) end = CANCELED;
    else {
      const refusal = why instanceof Refused ? why.failure : services.fault(why);
      end = { outcome: outcomeOf(refusal), cause: null, code: refusal.code };
      const headers = { ...ownHeaders(live), ...(why instanceof Refused ? why.headers : {}) };
      if (shared === null) sendError(response, refusal, wire, headers);
      else answer(outlet, refusal, wire, headers);
    }
  }
  place.leave();
  unlist();
  finish(services, live, end, run);
  shared?.settle(end);
}

/** Whether this request is one that is under way or was answered already, by its `Idempotency-Key`. */
function claimed(services: Services, config: Config, wire: Wire, request: IncomingMessage, body: Buffer) {
  const key = request.headers["idempotency-key"];
  if (typeof key !== "string" || key === "") return { is: "fresh", run: null, of: null } as const;
  const caller = services.guard().caller(request.headers);
  const of: Claim = { caller, route: wire.name, key, body, revision: config.revision };
  return { ...services.replays.claim(of), of };
}

const OURS: Fate = { is: "ours", left: null };

/** The same among all replicas, where they share their runs. */
async function among(
  services: Services,
  config: Config,
  claim: Claim | null,
  run: SharedRun,
  signal: AbortSignal,
): Promise<Fate> {
  const runs = services.state?.runs ?? null;
  return claim === null || runs === null ? OURS : runs.attend(claim, config, run, signal);
}

function conflict(): Failure {
  return failure(
    "idempotency_conflict",
    "This Idempotency-Key was used for another request body.",
    {},
    "Idempotency-Key",
  );
}

const CANCELED: RunEnd = { outcome: "canceled", cause: null, code: null };

/** Bytes: parsing, counting and writing a body of this size are each a turn of the event loop's own, so that none gets long. */
const LARGE_BODY_BYTES = 1_048_576;

function othersTurn(): Promise<void> {
  return new Promise(setImmediate);
}

/** Routes, counts and plans. @throws Refused where the request ends here */
async function prepare(
  services: Services,
  config: Config,
  of: {
    readonly wire: Wire;
    readonly request: IncomingMessage;
    readonly options: RequestOptions;
    readonly bytes: Buffer;
    readonly outlet: Outlet;
    readonly live: Live;
    readonly over: Over;
    /** Takes a place at a job's upstream, and gives back the one before. */
    readonly enter: (job: Job) => void | Promise<void>;
  },
): Promise<Job> {
  const { wire, request, options, bytes, outlet, live, over } = of;
  const readAt = performance.now();
  const body = objectOf(bytes);
  const large = bytes.length >= LARGE_BODY_BYTES;
  if (large) await othersTurn();
  const asked = wire.read(body);
  const inboundKeys = config.listen.keys.length > 0;
  const caps = options.caps ?? capsFor(policyFor(config, asked.model), wire.name);
  const targeting = targetOf(services, config, wire, asked, asked.model);
  let target = targeting instanceof Promise ? await targeting : targeting;
  name(live, asked, target.server);
  services.bus.emit({
    type: "received",
    id: live.id,
    model: live.model,
    wire: wire.name,
    stream: asked.stream,
    upstream: target.server.name,
  });
  live.phase = "counting";
  const strict = caps === "strict";
  const heals = ({ policy, ask }: Pick<Target, "policy" | "ask">) =>
    (options.heal ?? policy.heal) && ask.unhealable === null && ask.stop.length <= MOST_STOPS;
  const admitted = (of: Target) => {
    const { authorization } = credentials(request.headers, of.server.authorization, inboundKeys);
    return admit(services, { ...of, wire, strict, heal: heals(of), authorization, bytes: bytes.length, over });
  };
  const planning = admitted(target);
  let plan = planning instanceof Promise ? await planning : planning;
  if (large) await othersTurn();
  const { overflow, overflowModel } = target.policy;
  if (plan.refusal?.code === "context_length_exceeded" && overflow === "route" && overflowModel !== "") {
    target = await targetOf(services, config, wire, asked, overflowModel);
    live.upstream = target.server.name;
    plan = await admitted(target);
  }
  const { ask } = plan;
  live.window = plan.known.window;
  live.promptTokens = plan.prompt?.tokens ?? null;
  live.countMethod = plan.method;
  services.bus.emit({
    type: "planned",
    id: live.id,
    model: live.model,
    window: plan.known.window,
    windowSource: plan.known.source,
    promptTokens: plan.prompt?.tokens ?? null,
    countMethod: plan.method,
    capAsked: ask.cap?.tokens ?? null,
    capSent: plan.cap?.tokens ?? ask.cap?.tokens ?? null,
    capReason: plan.reason,
    overheadSeconds: (performance.now() - readAt) / 1000,
  });
  if (plan.refusal !== null) throw new Refused(plan.refusal, plan.headers);
  const idempotency = request.headers["idempotency-key"];
  const search = /\?.*$/.exec(request.url ?? "")?.[0] ?? "";
  const jobAt = ({ policy, server, dialect }: Target, admission: Admission): Job => {
    const deadlineSeconds = options.deadlineSeconds ?? policy.deadlineSeconds;
    const { authorization, headers: own } = credentials(request.headers, server.authorization, inboundKeys);
    return {
      id: live.id,
      model: live.model,
      ask: admission.ask,
      bytes,
      wire,
      search,
      server,
      dialect,
      policy,
      strict,
      heal: heals({ policy, ask: admission.ask }),
      explain: options.explain,
      deadlineAt: live.startedAt + deadlineSeconds * 1000,
      deadlineSeconds,
      deadlineHard: policy.deadlineHard || options.deadlineSeconds !== null,
      maxAttempts: options.attempts ?? policy.maxAttempts,
      known: admission.known,
      plan: admission,
      limits: config.limits,
      headers: [
        ...requestHeaders(request.headers, true),
        ...own,
        "content-type",
        "application/json",
        "accept",
        admission.ask.stream ? "text/event-stream" : "application/json",
      ],
      firstOnly: typeof idempotency === "string" ? ["idempotency-key", idempotency] : [],
      replyHeaders: [...listOf(ownHeaders(live)), ...listOf(admission.headers)],
      authorization,
      outlet,
      live,
      elsewhere,
    };
  };
  const others = (tried: Set<string>) => async (): Promise<Job | null> => {
    for (;;) {
      const at = await targetElsewhere(services, wire, target, tried);
      if (at === null) return null;
      const admission = await admitted(at);
      if (admission.refusal !== null) continue;
      live.upstream = at.server.name;
      const job = jobAt(at, admission);
      await of.enter(job);
      return job;
    }
  };
  const elsewhere = target.policy.upstreams.length > 1 ? others(new Set([target.server.name])) : null;
  return jobAt(target, plan);
}
