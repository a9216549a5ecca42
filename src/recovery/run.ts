import { shorten } from "../budget/shorten.ts";
import { silentlyTruncated } from "../budget/truncation.ts";
import type { Ask } from "../core/ask.ts";
import type { Attempt, AttemptResult, Cause, Outcome, Warning } from "../core/cut.ts";
import { type Failure, failure, outcomeOf, Refused } from "../core/error.ts";
import type { Fault } from "../core/part.ts";
import { type Block, callsOf, type Reply, reasoningOf, textOf } from "../core/reply.ts";
import type { Live } from "../events/event.ts";
import { shapeOf } from "../stitch/json.ts";
import { isLoop } from "../stitch/repetition.ts";
import type { Discard } from "../stitch/seam.ts";
import { countEvents } from "../upstream/frames.ts";
import { lossFailure } from "../upstream/loss.ts";
import { retryAfterSeconds } from "../upstream/retry-after.ts";
import type { Report } from "../wire/wire.ts";
import type { AskedCap } from "./asked-cap.ts";
import { decide, deliver, waysOf } from "./decide.ts";
import { Draft, type PassReader, type Told } from "./draft.ts";
import { type PassFacts, verdictOf } from "./evidence.ts";
import { deadlineFailure, overflowFailure, stallFailure } from "./failures.ts";
import type { Job, Shared } from "./job.ts";
import { Joiner, regrown } from "./joiner.ts";
import { type Corrections, learn, type Relay } from "./learn.ts";
import { rendersRaw } from "./raw/resume.ts";
import { asItCame, type PassRequest, passRequest, resumeKey } from "./request.ts";
import {
  type Action,
  begin,
  type Facts,
  isWholeTurn,
  type PassEnd,
  type Send,
  type Sending,
  type State,
  type Step,
  type Way,
  type Where,
} from "./state.ts";
import { Teller } from "./teller.ts";
import { openThought, thinkState } from "./think.ts";
import { type Headers, type Landing, type Reader, Transport } from "./transport.ts";
import { billed, CHARACTERS_PER_TOKEN, isEstimated, joinedUsage, type Spent } from "./usage.ts";
import type { Verdict } from "./verdict.ts";

/** Tokens that a hidden turn costs beside the partial reply. */
const HIDDEN_TURN_TOKENS = 96;
const STEPS: readonly Step[] = ["lower", "off"];

/** How a run ended, for metrics and the log. */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly cause: Cause | null;
  readonly code: string | null;
}

/**
 * One request from its first dispatch to its last byte: passes are made, judged and joined until the reply is whole or is told cut.
 * What to do next is `decide`'s to say; the reply itself is the draft's; here one follows the other.
 */
export class Run {
  readonly warnings = new Set<Warning>();
  readonly spent: Spent[] = [];
  /** Its `ask` is replaced where the history has to be shortened. */
  #job: Job;
  readonly #shared: Shared;
  readonly #shown: Buffer | null;
  readonly #teller: Teller;
  readonly #draft: Draft;
  readonly #corrections: Corrections = { ...UNCORRECTED };
  #state: State;
  /** Why the last answer to a nudge could not be joined. */
  #discarded: Discard | null = null;
  #relay: Relay | null = null;
  #transport: Transport | null = null;
  #landed: ((landing: Landing) => void) | null = null;
  #wake: (() => void) | null = null;
  #left = false;
  /** Why nothing further may begin. */
  #stopped: Failure | null = null;
  #cutAt: number | null = null;
  /** A pass was ended before its usage came. */
  #estimated = false;

  /** @param shown what another replica has shown of this reply, in events of its wire, before it was lost; null: nothing */
  constructor(job: Job, shared: Shared, shown: Buffer | null = null) {
    this.#job = job;
    this.#shared = shared;
    this.#shown = shown;
    const voice = job.wire.voice(job.ask, job.id);
    this.#teller = new Teller(job, voice, {
      pause: () => this.#transport?.pause(),
      resume: () => this.#transport?.resume(),
    });
    this.#draft = new Draft(job, voice, this.#teller);
    this.#draft.onSaid = () => this.#joined();
    if (job.plan.compacted !== null) this.#warn("compacted");
    const asked = job.ask.cap?.tokens ?? null;
    this.#state = begin(asked, job.plan.cap?.tokens ?? asked, NOT_ASKED);
  }

  /** Ends the request from outside and at once: with nothing more where the client has left, else as honestly as may be. */
  end(why: unknown): void {
    if (why instanceof Refused) this.#stop(why.failure);
    else {
      this.#left = true;
      this.#interrupt({ kind: "aborted" });
    }
  }

  async go(): Promise<RunEnd> {
    const deadline = setTimeout(() => this.#expire(), Math.max(0, this.#job.deadlineAt - performance.now()));
    try {
      return await this.#passes();
    } catch (error) {
      return this.#fail(this.#shared.fault(error), "failed", this.#state.cause);
    } finally {
      clearTimeout(deadline);
      this.#teller.close();
      this.#transport?.abort();
    }
  }

  async #passes(): Promise<RunEnd> {
    const { strategy, cap, effort, by, hint, shorten, back } = this.#state;
    let action: Action = { do: "send", strategy, cap, effort, by, hint, shorten, back, waitSeconds: 0 };
    const taken = this.#shown === null ? null : this.#takeUp(this.#shown);
    if (taken !== null && "outcome" in taken) return taken;
    let end = taken;
    while (action.do === "send") {
      end ??= await this.#pass(action);
      if (end === null) return { outcome: "canceled", cause: this.#state.cause, code: null };
      if (!this.#job.heal) return this.#passOn(end);
      if (end.on === "whole") action = deliver(this.#state);
      else action = (end.on === "unbegun" && end.transient ? await this.#move(action) : null) ?? this.#decide(end);
      end = null;
    }
    switch (action.do) {
      case "deliver":
        if (action.outcome === "healed") this.#learnMended();
        this.#draft.deliver(() => this.#told(action.outcome, this.#state.cause, null));
        return { outcome: action.outcome, cause: this.#state.cause, code: null };
      case "stop":
        if (action.as === "error" && action.failure !== null)
          return this.#fail(action.failure, "cut_off", action.cause);
        this.#draft.stop(() => this.#told("cut_off", action.cause, action.failure?.code ?? null));
        return { outcome: "cut_off", cause: action.cause, code: action.failure?.code ?? null };
      case "fail":
        return this.#fail(action.failure, outcomeOf(action.failure), null);
      default:
        return action satisfies never;
    }
  }

  /** No reply began here: the same pass where else the model is served; null: nowhere. What was shown is gone on with there. */
  async #move(sent: Send): Promise<Send | null> {
    const next = this.#job.elsewhere === null ? null : await this.#job.elsewhere();
    if (next === null || this.#left) return null;
    this.#job = next;
    this.#draft.moved(next);
    this.#teller.moved(next);
    this.#relay = null;
    Object.assign(this.#corrections, UNCORRECTED);
    const ways = this.#ways();
    const { strategy, cap } = sent;
    const began = strategy !== "first" && strategy !== "retry";
    const moved: Sending = {
      ...sent,
      strategy: !began ? "retry" : isWholeTurn(sent) || strategy === "parts" ? strategy : (ways[0] ?? "nudge"),
      cap: began ? cap : (next.plan.cap?.tokens ?? next.ask.cap?.tokens ?? null),
    };
    this.#state = { ...this.#state, ...moved, ways };
    return { ...moved, do: "send", waitSeconds: 0 };
  }

  /** Most replies are whole: ways to go on, policy and facts are looked up where one is not. */
  #decide(end: PassEnd): Action {
    if (this.#state.ways === NOT_ASKED) this.#state = { ...this.#state, ways: this.#ways() };
    const policy = { ...this.#job.policy, maxAttempts: this.#job.maxAttempts };
    const { state, action } = decide(this.#state, end, this.#facts(), policy);
    this.#state = state;
    return action;
  }

  #ways(): readonly Way[] {
    const job = this.#job;
    const resumes = this.#lessons.resumes[resumeKey(job)];
    const prefill = this.#resume !== null && resumes !== "refused" && resumes !== "ignored";
    return waysOf(job.policy.continue, { prefill, raw: rendersRaw(job) });
  }

  /** What another replica has shown is a first pass that broke, or all of the reply; null: there was no output in it. */
  #takeUp(shown: Buffer): PassEnd | RunEnd | null {
    const { live, id, model, outlet } = this.#job;
    const reply = this.#draft.restore(shown);
    if (reply.ended) {
      outlet.end();
      return { outcome: outcomeShown(reply), cause: null, code: null };
    }
    if (reply.blocks.length === 0) return null;
    const gained = lengthOf(reply);
    const estimate = Math.ceil(gained / CHARACTERS_PER_TOKEN);
    this.spent.push({ usage: null, estimate, share: 1 });
    const facts: Attempt = {
      strategy: "first",
      cap: this.#state.cap,
      finish_reason: null,
      prompt_tokens: null,
      completion_tokens: null,
      bytes: shown.length,
      ms: 0,
      seam: null,
      result: "broken",
    };
    live.attempts.push(facts);
    this.#emit({ type: "attempt_ended", id, model, attempt: 1, facts, cause: "upstream_broken" });
    this.#cutAt = performance.now();
    const where = this.#brokenAt(reply);
    return { on: "cut", cause: "upstream_broken", where, generated: estimate, gained, looping: false };
  }

  // ---- one pass

  /** null: the client left meanwhile. */
  async #pass(send: Send): Promise<PassEnd | null> {
    if (send.waitSeconds > 0) await this.#sleep(send.waitSeconds);
    if (this.#left) return null;
    // Time may have run out between two passes, when there was nothing to interrupt.
    const late = this.#stopped ?? (performance.now() >= this.#job.deadlineAt ? deadlineFailure(this.#job) : null);
    if (late !== null) return { on: "timeout", failure: late };
    if (send.shorten && !(await this.#shorten())) return { on: "unable" };
    if (this.#left) return null;
    const job = this.#job;
    const strategy = send.shorten ? "compact" : send.strategy;
    const calls = this.#draft.turnCalls;
    const joins = this.#draft.keep(send);
    this.#superseded(send, joins, calls);
    const attempt = job.live.attempts.length + 1;
    const request =
      asItCame(job, send, this.#lessons, this.#corrections) ??
      (await passRequest(job, send, {
        lessons: this.#lessons,
        corrections: this.#corrections,
        known: this.#draft.known,
        calls,
        after: this.#discarded,
        pass: attempt,
      }));
    if (this.#left) return null;
    if (this.#stopped !== null) return { on: "timeout", failure: this.#stopped };
    if (request === null) return { on: "unable" };
    if (this.#state.cap !== request.cap) this.#state = { ...this.#state, cap: request.cap };
    job.live.capSent = request.cap;
    job.live.phase = joins ? "joining" : "asking";
    const { id, model } = job;
    this.#emit({ type: "attempt_started", id, model, attempt, strategy, cap: request.cap, upstream: job.server.name });
    const startedAt = performance.now();
    const over = (ended: boolean) => this.#transport?.stop(ended);
    const reader = joins
      ? this.#draft.joiner(send, request, attempt, over)
      : this.#draft.forward(request, job.policy.holdBack === "word" && this.#ways()[0] === "nudge", over);
    const landing = await this.#call(request, reader);
    const end = this.#left ? null : await this.#judge(send, request, reader, landing);
    const told = this.#draft.end;
    const facts: Attempt = {
      strategy,
      cap: request.cap,
      finish_reason: told.finish?.raw || null,
      prompt_tokens: told.usage?.prompt ?? null,
      completion_tokens: told.usage?.completion ?? null,
      bytes: this.#transport?.bytes ?? 0,
      ms: Math.round(performance.now() - startedAt),
      seam: reader instanceof Joiner ? reader.seam : null,
      result: resultOf(end),
    };
    job.live.attempts.push(facts);
    this.#emit({ type: "attempt_ended", id, model, attempt, facts, cause: end?.on === "cut" ? end.cause : null });
    return this.#left ? null : end;
  }

  /** Makes room where the window was full: once, by a quarter of it, out of the oldest history. false: it cannot be done. */
  async #shorten(): Promise<boolean> {
    const { wire, ask, plan, known } = this.#job;
    const window = this.#corrections.window ?? known.window ?? 0;
    const shorter = await shorten(wire, ask, this.#shared.counter, plan.target, Math.max(1024, Math.floor(window / 4)));
    if (shorter === null) return false;
    this.#job = { ...this.#job, ask: shorter.ask };
    this.#corrections.prompt = Math.max(0, (this.#toldPrompt() ?? plan.prompt?.tokens ?? 0) - shorter.saved);
    this.#state = { ...this.#state, shorten: false };
    this.#warn("compacted");
    return true;
  }

  /** Tokens of the prompt, as the server has counted them; null: it has not told. */
  #toldPrompt(): number | null {
    const reported = this.spent.find((pass) => pass.usage !== null)?.usage?.prompt;
    return this.#corrections.prompt ?? (reported || null);
  }

  /** What the turn that is asked again takes the place of was generated, but is not delivered. */
  #superseded(send: Send, joins: boolean, calls: readonly Block[]): void {
    if (!joins) for (const pass of this.spent) pass.share = 0;
    const last = this.spent.at(-1);
    if (!joins || !isWholeTurn(send) || last === undefined) return;
    const told = lengthOf(this.#draft.known);
    const dropped = calls.reduce((sum, call) => sum + call.text.length, 0);
    last.share *= told / Math.max(1, told + dropped);
  }

  #call(request: PassRequest, reader: PassReader): Promise<Landing> {
    const { live, limits, headers, firstOnly, server, search } = this.#job;
    const first = live.attempts.length === 0;
    return new Promise((resolve) => {
      const land = (landing: Landing) => {
        this.#landed = null;
        resolve(landing);
      };
      this.#landed = land;
      const watch = new Watch(reader, live, this.#draft, () => this.#flows(first));
      const transport = new Transport(watch, limits, land);
      this.#transport = transport;
      transport.start(
        server,
        request.path + search,
        first && firstOnly.length > 0 ? [...headers, ...firstOnly] : headers,
        request.body,
      );
    });
  }

  #flows(first: boolean): void {
    const { live, id, model } = this.#job;
    live.phase = "flowing";
    if (first) this.#emit({ type: "first_output", id, model, ms: performance.now() - live.startedAt });
  }

  /** The first output behind a cut has reached the client. */
  #joined(): void {
    if (this.#cutAt === null) return;
    const seconds = (performance.now() - this.#cutAt) / 1000;
    this.#cutAt = null;
    this.#emit({ type: "seam", id: this.#job.id, model: this.#job.model, seconds, overlap: 0, dropped: 0 });
  }

  // ---- how it ended

  async #judge(send: Send, request: PassRequest, reader: PassReader, landing: Landing): Promise<PassEnd> {
    const job = this.#job;
    this.#noteHealth(reader, landing);
    switch (landing.kind) {
      case "refused":
        return this.#refused(send, request, landing.fault, landing.headers);
      case "lost":
        // A server that is away, or fell over its prompt, may come back with other windows.
        if (!landing.loss.answered) this.#shared.windows.stale(job.server);
        if (reader.started) return this.#ended(send, request, reader, "broken");
        return this.#unbegun(landing.loss.kind !== "untrusted", lossFailure(job.server, landing.loss));
      case "garbled":
        if (reader.started) return this.#ended(send, request, reader, "broken");
        return this.#unbegun(
          landing.status >= 500,
          failure("upstream_protocol_error", `The upstream ${job.server.name} answered with ${landing.what}.`, {
            upstream_status: landing.status,
          }),
        );
      case "stalled":
        if (reader.started) return this.#ended(send, request, reader, "stalled");
        this.#draft.nothing();
        return { on: "timeout", failure: stallFailure(job, landing.limit, landing.seconds) };
      case "failed":
        throw landing.error;
      case "expired":
        if (reader.started) this.#draft.close(reader, request);
        else this.#draft.nothing();
        return { on: "timeout", failure: landing.failure };
      case "plain":
        return this.#plain(send, request, reader, landing);
      case "streamed":
      case "aborted":
        if (reader.fault !== null && !reader.started) return this.#refused(send, request, reader.fault, {});
        return this.#ended(send, request, reader, reader.fault === null ? "eof" : "fault");
      default:
        return landing satisfies never;
    }
  }

  /** What the landing shows of the server, for those who may choose another. */
  #noteHealth(reader: PassReader, landing: Landing): void {
    const { server } = this.#job;
    const { health } = server;
    const now = performance.now();
    if (landing.kind === "refused") {
      const { fault, headers } = landing;
      if (fault.status >= 500) health.failed(now, false);
      else if (fault.status !== 429) health.worked();
      else {
        const seconds = retryAfterSeconds(headers, fault.message, Date.now()) ?? 0;
        health.limited(now, seconds);
        if (seconds > 0) this.#shared.limited(server, seconds);
      }
    } else if (landing.kind === "streamed" || landing.kind === "plain") health.worked();
    else if (landing.kind === "lost" || landing.kind === "garbled" || landing.kind === "stalled")
      health.failed(now, !reader.started && landing.kind === "lost" && landing.loss.kind === "unreachable");
  }

  #refused(send: Send, request: PassRequest, fault: Fault, headers: Headers): PassEnd {
    this.#draft.nothing();
    this.#relay = { fault, headers };
    const { cap, added, effort } = request;
    const sent = { strategy: send.strategy, cap, added, effort, resumeKey: resumeKey(this.#job) };
    const end = learn(this.#job, this.#shared, sent, fault, headers, this.#corrections, Date.now());
    // What a rendered prompt is refused for does not hold for the client's own wire.
    return request.raw && end.on === "unbegun" && !end.transient ? { on: "unable" } : end;
  }

  #unbegun(transient: boolean, why: Failure): PassEnd {
    this.#draft.nothing();
    this.#relay = null;
    return { on: "unbegun", transient, retryAfter: null, failure: why };
  }

  #plain(
    send: Send,
    request: PassRequest,
    reader: PassReader,
    { body, raw, headers }: Extract<Landing, { kind: "plain" }>,
  ): Promise<PassEnd> | PassEnd {
    const parts = request.wire.parts(body);
    const fault = parts.find((part) => part.kind === "fault");
    if (fault?.kind === "fault") return this.#refused(send, request, fault.fault, headers);
    if (parts.length === 0)
      return this.#unbegun(
        false,
        failure(
          "upstream_protocol_error",
          `The upstream ${this.#job.server.name} answered with a body that is no reply.`,
        ),
      );
    this.#draft.heard(headers);
    this.#draft.takePlain(reader, request, body, raw, parts);
    return this.#ended(send, request, reader, "terminal");
  }

  /** The pass began a reply and is over: is the reply whole? */
  async #ended(send: Send, request: PassRequest, reader: PassReader, how: PassFacts["end"]): Promise<PassEnd> {
    this.#draft.close(reader, request);
    const { end } = this.#draft;
    const { askedCap } = this.#draft;
    const spent: Spent =
      askedCap?.ended === true
        ? await this.#spentUntil(askedCap, reader)
        : {
            usage: end.usage,
            estimate: end.usage === null ? Math.ceil(heardBy(reader, this.#draft) / CHARACTERS_PER_TOKEN) : 0,
            share: 1,
          };
    this.spent.push(spent);
    const generated = spent.usage?.completion ?? spent.estimate;
    if (reader instanceof Joiner) {
      if (send.strategy === "prefill" && request.unproven && reader.lesson !== null) this.#learnResume(reader.lesson);
      const apart = this.#unjoined(send, request, reader, generated);
      if (apart !== null) {
        if (apart.on !== "cut") spent.share = 0;
        return apart;
      }
    }
    this.#learnFromUsage(end);
    const verdict = this.#plainlyWhole(request, end) ? WHOLE : await this.#verdict(send, request, reader, how);
    if (reader instanceof Joiner) {
      if (reader.heard > 0) spent.share = 1 - reader.dropped / reader.heard;
      const odd = this.#oddly(send, verdict, reader, generated);
      if (odd !== null) {
        spent.share = 0;
        return odd;
      }
    }
    return this.#passEnd(verdict, request, reader, generated);
  }

  /** A pass that was ended at the asked cap: a stream that is stopped tells no usage, or none that is its last. */
  async #spentUntil({ generated, dropped }: AskedCap, reader: PassReader): Promise<Spent> {
    const { usage } = this.#draft.end;
    const completion = Math.max(usage?.completion ?? 0, generated);
    this.#estimated ||= completion !== usage?.completion;
    const prompt = usage?.prompt ?? (await this.#countedPrompt());
    const share = reader instanceof Joiner ? 1 : 1 - dropped / Math.max(1, completion);
    return { usage: { reasoning: null, raw: {}, ...usage, prompt, completion }, estimate: generated, share };
  }

  /** For a usage that the upstream does not tell. null: nobody asks for it. */
  async #countedPrompt(): Promise<number | null> {
    const { wire, ask, plan } = this.#job;
    const known = this.#toldPrompt() ?? (plan.prompt?.method === "ceiling" ? null : (plan.prompt?.tokens ?? null));
    if (known !== null || !this.#tellsUsage) return known;
    return (await this.#shared.counter.count(wire.pieces(ask.body), plan.target)).tokens;
  }

  /** The pass cannot be joined; null: it can. */
  #unjoined(send: Send, request: PassRequest, reader: Joiner, generated: number): PassEnd | null {
    if (reader.discard !== null) {
      const demote = request.unproven || request.raw;
      if (reader.calledAnyway) this.#learnIgnored("tool_choice");
      if (send.strategy !== "prefill" || !demote) this.#discarded = reader.discard;
      return { on: "discarded", demote, generated };
    }
    if (!reader.lost) return null;
    if (request.channel === "call") return { on: "discarded", demote: true, generated };
    // The text stands; the call behind it can only be asked for anew.
    this.#cutAt = performance.now();
    const cause = this.#state.cause ?? "reply_cap";
    return { on: "cut", cause, where: "tool", generated, gained: reader.gained, looping: false };
  }

  /** The pass ended by itself, but what it makes of the reply cannot stand; null: it can. */
  #oddly(send: Send, verdict: Verdict, reader: Joiner, generated: number): PassEnd | null {
    const { end } = this.#draft;
    const whole = verdict.kind !== "cut";
    const last = callsOf(end).at(-1);
    const closed = send.strategy === "parts" && !whole && last !== undefined && shapeOf(last.text) !== "open";
    if (closed || (verdict.kind === "malformed" && !isWholeTurn(send))) {
      this.#draft.undo();
      return { on: "spoiled", generated };
    }
    if (!whole) return null;
    if (!this.#draft.coherent) {
      this.#draft.undo();
      return { on: "discarded", demote: false, generated };
    }
    const { askedCap } = this.#draft;
    // A format's reply may be whole although it was ended there.
    const capped = askedCap?.ended === true;
    reader.flush();
    if (reader.aside !== "" && last === undefined) {
      // A turn asked again that makes no call must at least tell the same story on.
      const more = regrown(this.#draft.known, reader.aside);
      if (more === null) return { on: "discarded", demote: false, generated };
      this.#draft.giveRest(more);
    }
    if (capped || askedCap?.ended !== true) return null;
    return { on: "cut", cause: "honoured_cap", where: "text", generated, gained: reader.gained, looping: false };
  }

  /** The common case, for which nothing need be parsed: it finished by itself, below its cap, and nothing must be proven. */
  #plainlyWhole(request: PassRequest, end: Reply): boolean {
    const { ask, dialect, wire } = this.#job;
    if (!end.ended || end.finish?.kind !== "done" || ask.structured !== null || callsOf(end).length > 0) return false;
    const completion = end.usage?.completion ?? null;
    const mayHide = dialect.hidesCuts.includes(wire.name);
    return request.cap === null || (completion === null ? !mayHide : completion < request.cap - 1);
  }

  #verdict(send: Send, request: PassRequest, reader: PassReader, how: PassFacts["end"]): Promise<Verdict> {
    const { ask, dialect, wire, known, plan } = this.#job;
    const { end } = this.#draft;
    const reply = this.#draft.full();
    return verdictOf(
      ask,
      {
        reply,
        silent: !reader.started,
        finish: end.finish,
        usage: end.usage,
        end: end.ended ? "terminal" : how,
        cap: { sent: request.cap, reason: this.#state.strategy === "first" ? plan.reason : "none" },
        window: {
          tokens: this.#corrections.window ?? known.window,
          sure: known.source === "config" || known.source === "loaded" || known.source === "served",
        },
        counted: {
          prompt: plan.prompt === null || plan.prompt.method === "ceiling" ? null : plan.prompt.tokens,
          completion: null,
        },
        hidesCuts: dialect.hidesCuts.includes(wire.name),
        mustProve: send.strategy === "parts",
      },
      this.#shared.validate,
    );
  }

  #passEnd(verdict: Verdict, request: PassRequest, reader: PassReader, generated: number): PassEnd {
    switch (verdict.kind) {
      case "whole":
        return { on: "whole" };
      case "stopped":
        // A half call stays withheld, whatever stopped it.
        if (verdict.halfCall) this.#draft.dropCalls();
        return { on: "whole" };
      case "malformed":
        return { on: "malformed" };
      case "nothing":
        return this.#nothing();
      case "failed":
        return this.#broke(reader, generated);
      case "cut": {
        this.#cutAt = performance.now();
        this.#job.live.cuts.push(this.#job.live.tokens);
        const capped = this.#draft.askedCap?.ended === true;
        if (!capped) this.#learnFromCut(verdict);
        // A model that needed the clearer order for one part of a call will need it for the next.
        if (this.#state.strategy !== "parts") this.#discarded = null;
        const gained = reader instanceof Joiner ? reader.gained : lengthOf(this.#draft.full());
        const cause = capped || this.#meant(request, verdict.cause) ? "honoured_cap" : verdict.cause;
        const looping = verdict.looping || isLoop(textOf(this.#draft.full()));
        if (looping && cause !== "honoured_cap") this.#warn("repetition_loop");
        return { on: "cut", cause, where: verdict.where, generated, gained, looping };
      }
      default:
        return verdict satisfies never;
    }
  }

  /** The upstream's own error, in the middle of a reply. */
  #broke(reader: PassReader, generated: number): PassEnd {
    this.#cutAt = performance.now();
    const where = this.#brokenAt(this.#draft.full());
    const gained = reader instanceof Joiner ? reader.gained : lengthOf(this.#draft.full());
    return { on: "cut", cause: "upstream_broken", where, generated, gained, looping: false };
  }

  #brokenAt(reply: Reply): Where {
    if (callsOf(reply).length > 0) return "tool";
    if (textOf(reply) !== "") return this.#job.ask.structured === null ? "text" : "structured";
    return reasoningOf(reply) === "" ? "nothing" : "reasoning";
  }

  /** A stream that ended with nothing at all: an overflow where the count reaches the window, else broken protocol. */
  #nothing(): PassEnd {
    const { plan, known, server } = this.#job;
    const { prompt } = plan;
    this.spent.pop();
    if (
      known.window !== null &&
      prompt !== null &&
      prompt.method !== "ceiling" &&
      prompt.tokens + prompt.bound >= known.window
    )
      return { on: "overflow", fits: false, failure: overflowFailure(this.#job, prompt.tokens, known.window) };
    const why = failure("upstream_protocol_error", `The upstream ${server.name} ended its reply without any output.`);
    return this.#unbegun(this.#state.retries === 0, why);
  }

  /** The cap is the client's will: a small one, or any under `strict`. */
  #meant(request: PassRequest, cause: Cause): boolean {
    const { ask, policy, strict } = this.#job;
    if (cause !== "reply_cap" && cause !== "reasoning_starved") return false;
    const asked = ask.cap?.tokens;
    if (asked === undefined || request.cap === null || request.cap > asked) return false;
    // With an allowance for thought beside it, only visible text uses it up.
    return (strict && this.#draft.askedCap === null) || asked <= policy.honourCapsUpTo;
  }

  // ---- what a pass teaches

  get #lessons() {
    return this.#shared.knowledge.of(this.#job.server.name, this.#job.ask.model);
  }

  get #resume() {
    return this.#job.dialect.resume(this.#job.wire.name, this.#job.ask.model, this.#job.ask);
  }

  #learnResume(state: "works" | "ignored"): void {
    const key = resumeKey(this.#job);
    if (this.#lessons.resumes[key] === state) return;
    this.#lessons.resumes[key] = state;
    this.#learned("continue", state, "seam");
  }

  /** A field that the server takes without heeding it is as good as refused. */
  #learnIgnored(field: string): void {
    const { server, ask } = this.#job;
    if (this.#lessons.optionsRefused.includes(field)) return;
    this.#lessons.optionsRefused.push(field);
    this.#shared.knowledge.changed(server.name, ask.model);
  }

  #learnFromUsage(end: Reply): void {
    const { prompt, completion, reasoning } = end.usage ?? { prompt: null, completion: null, reasoning: null };
    const lessons = this.#lessons;
    this.#shared.windows.servedBy(this.#job.server, this.#job.ask.model);
    lessons.served = Math.max(lessons.served, (prompt ?? 0) + (completion ?? 0));
    if (!lessons.reasons && (reasoning ?? 0) > 0) {
      lessons.reasons = true;
      this.#learned("reasoning", true, "usage");
    }
    if (this.#job.live.attempts.length === 0) this.#learnFromPrompt(prompt);
  }

  /** The first pass's prompt, as the server counted it, teaches the counter; far below the count, messages were dropped in silence. */
  #learnFromPrompt(reported: number | null): void {
    const { plan, wire, ask } = this.#job;
    const { counter } = this.#shared;
    if (reported === null || reported <= 0) return;
    if (plan.prompt === null || plan.prompt.method === "ceiling") {
      // It was not counted before, for nothing hung on it; a longer one's count may hang on what it teaches.
      void counter.study(() => wire.pieces(ask.body), plan.target, reported);
    } else if (silentlyTruncated(plan.prompt, reported)) this.#warn("silent_prompt_truncation");
    else counter.learn(plan.prompt, plan.target, reported);
  }

  #learnFromCut(verdict: Extract<Verdict, { kind: "cut" }>): void {
    const until = Date.now() + this.#job.policy.windowTtlSeconds * 1000;
    const lessons = this.#lessons;
    if (verdict.limit !== null) {
      lessons.maxOutput = verdict.limit;
      lessons.maxOutputUntil = until;
      this.#learned("max_output", verdict.limit, "cut");
    }
    if (verdict.window !== null && this.#job.policy.window === null) {
      lessons.window = verdict.window;
      lessons.windowUntil = until;
      this.#corrections.window = verdict.window;
      this.#learned("window", verdict.window, "cut");
    }
  }

  /** How a reply that reasoning had starved came to be whole: the next one begins with that. */
  #learnMended(): void {
    const { cause, strategy, effort } = this.#state;
    if (cause !== "reasoning_starved" || strategy !== "reask") return;
    const mendedBy = effort ?? "raise";
    if (this.#lessons.mendedBy === mendedBy) return;
    this.#lessons.mendedBy = mendedBy;
    this.#learned("effort", mendedBy, "cut");
  }

  #learned(
    fact: "window" | "max_output" | "continue" | "reasoning" | "effort",
    value: number | string | boolean,
    from: string,
  ): void {
    const { server, ask, model } = this.#job;
    this.#shared.knowledge.changed(server.name, ask.model);
    this.#emit({ type: "learned", upstream: server.name, model, fact, value, from });
  }

  // ---- between passes and at the end

  #facts(): Facts {
    const { ask, dialect, wire, strict, known, plan, deadlineAt } = this.#job;
    const draft = this.#draft;
    const { askedCap } = draft;
    const lessons = this.#lessons;
    const { ways } = this.#state;
    const delivered = joinedUsage(this.spent)?.completion ?? this.spent.reduce((sum, pass) => sum + pass.estimate, 0);
    const roomAgain = this.#roomAgain();
    const limits = [known.maxOutput, lessons.maxOutput, this.#corrections.mostCap].filter((limit) => limit !== null);
    const takes = (step: Step) => dialect.effort(wire.name, ask.model, ask.body, step) !== null;
    const resumesThought = ways[0] === "raw" || (ways[0] === "prefill" && this.#resume?.thoughts === true);
    return {
      secondsLeft: (deadlineAt - performance.now()) / 1000,
      room: roomAgain === null ? null : roomAgain - delivered - HIDDEN_TURN_TOKENS,
      roomAgain,
      modelLimit: limits.length === 0 ? null : Math.min(...limits),
      strictLeft:
        strict && ask.cap !== null ? (askedCap?.leftBehind(textOf(draft.full())) ?? ask.cap.tokens - delivered) : null,
      allowance: askedCap === null ? 0 : (plan.cap?.tokens ?? 0) - (ask.cap?.tokens ?? 0),
      // What costs a look at all that has flowed is looked at only where a decision hangs on it.
      get shownText() {
        return draft.shownText;
      },
      get shownReasoning() {
        return draft.shownReasoning;
      },
      get shownTool() {
        return draft.shownTool;
      },
      get resumesThoughts() {
        return resumesThought && openThought(draft.full()) !== "";
      },
      get thoughtIsText() {
        return thinkState(textOf(draft.full())).state === "open";
      },
      get carries() {
        return carriable(ask, draft.turnCalls);
      },
      get divisible() {
        return draft.divisible;
      },
      get steps() {
        return lessons.effortRefused ? [] : STEPS.filter(takes);
      },
      helped: lessons.mendedBy,
      compactable: wire.history !== undefined,
    };
  }

  /** Tokens that the turn could have if it were asked again; null: unknown. */
  #roomAgain(): number | null {
    const { plan, known } = this.#job;
    const window = this.#corrections.window ?? known.window;
    if (window === null) return null;
    const exact = this.#toldPrompt();
    if (exact !== null) return window - exact;
    return plan.prompt === null ? null : window - plan.prompt.tokens - plan.prompt.bound;
  }

  /** Healing is off: what came is what the client gets. */
  #passOn(end: PassEnd): RunEnd {
    switch (end.on) {
      case "whole":
      case "malformed":
        this.#draft.passOn(this.#told(end.on === "whole" ? "complete" : "malformed", null, null));
        return { outcome: end.on === "whole" ? "complete" : "malformed", cause: null, code: null };
      case "cut": {
        if (end.cause === "upstream_broken")
          return this.#fail(lossFailure(this.#job.server, { kind: "lost", code: "broken" }), "failed", end.cause);
        this.#draft.passOn(this.#told("cut_off", end.cause, null));
        return { outcome: "cut_off", cause: end.cause, code: null };
      }
      case "discarded":
      case "spoiled":
      case "unable":
        return this.#fail(failure("upstream_error", "The upstream failed."), "failed", null);
      default:
        return this.#fail(end.failure, outcomeOf(end.failure), null);
    }
  }

  #fail(why: Failure, outcome: Outcome, cause: Cause | null): RunEnd {
    const relay = why.code === "upstream_error" ? this.#relay : null;
    const healed = this.#state.cause !== null;
    this.#teller.fail(why, relay, { outcome, attempts: this.#job.live.attempts.length, cause, healed });
    return { outcome, cause, code: why.code };
  }

  #told(outcome: Outcome, cause: Cause | null, code: string | null): Told {
    if (this.#storedInPart()) this.#warn("stored_reply_partial");
    if (this.#job.ask.logprobs && this.#draft.lacksLogprobs) this.#warn("logprobs_missing");
    if (this.#tellsUsage && (this.#estimated || isEstimated(this.spent))) this.#warn("usage_estimated");
    return {
      report: this.#report(outcome, cause, code),
      usage: joinedUsage(this.spent),
      facts: { outcome, attempts: this.#job.live.attempts.length, cause },
    };
  }

  get #tellsUsage(): boolean {
    return this.#job.ask.wantsUsage || !this.#job.ask.stream;
  }

  /** Several passes made the reply, and the server keeps each under an id of its own. */
  #storedInPart(): boolean {
    const { wire, ask, dialect } = this.#job;
    const { store, previous_response_id } = ask.body;
    if (wire.name !== "responses" || this.spent.filter((pass) => pass.share > 0).length < 2) return false;
    return store !== false && (dialect.keepsReplies ?? (store === true || Boolean(previous_response_id)));
  }

  #report(outcome: Outcome, cause: Cause | null, code: string | null): Report | null {
    const { explain, known, plan, heal, live } = this.#job;
    const plainly = (outcome === "complete" || outcome === "healed") && this.warnings.size === 0;
    if (!heal || (plainly && !explain)) return null;
    const full = {
      attempts: live.attempts,
      window: known.window,
      window_source: known.source,
      prompt_tokens_estimated: plan.prompt?.tokens ?? null,
      billed: billed(this.spent),
    };
    return { outcome, cause, code, warnings: [...this.warnings], full: explain ? full : null };
  }

  // ---- time

  /** A pass that is flowing is ended by the deadline only if it is a hard one. */
  #expire(): void {
    if (this.#job.live.phase === "flowing" && !this.#job.deadlineHard) return;
    this.#stop(deadlineFailure(this.#job));
  }

  #stop(failure: Failure): void {
    this.#stopped = failure;
    this.#interrupt({ kind: "expired", failure });
  }

  #interrupt(landing: Landing): void {
    this.#transport?.abort();
    this.#landed?.(landing);
    this.#wake?.();
  }

  #sleep(seconds: number): Promise<void> {
    this.#job.live.phase = "waiting";
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(wake, seconds * 1000);
      this.#wake = wake;
    });
  }

  #warn(warning: Warning): void {
    this.warnings.add(warning);
    this.#emit({ type: "warned", id: this.#job.id, model: this.#job.model, warning });
  }

  #emit(event: Parameters<Shared["bus"]["emit"]>[0]): void {
    this.#shared.bus.emit(event);
  }
}

const UNCORRECTED: Corrections = { mostCap: null, capField: null, prompt: null, window: null };
const WHOLE: Verdict = { kind: "whole", odd: null };
/** Nobody had to know yet how a cut reply would be gone on with. */
const NOT_ASKED: readonly Way[] = [];

/** Hears a pass for its reader, and keeps the request's live numbers. */
class Watch implements Reader {
  readonly #reader: PassReader;
  readonly #live: Live;
  readonly #draft: Draft;
  readonly #flows: () => void;

  constructor(reader: PassReader, live: Live, draft: Draft, flows: () => void) {
    this.#reader = reader;
    this.#live = live;
    this.#draft = draft;
    this.#flows = flows;
  }

  get started(): boolean {
    return this.#reader.started;
  }

  opened(headers: Headers): void {
    this.#draft.heard(headers);
  }

  raw(chunk: Buffer): void {
    this.#reader.raw(chunk);
  }

  run(events: Buffer, first: boolean): void {
    const live = this.#live;
    live.bytes += events.length;
    live.tokens += countEvents(events);
    this.#reader.run(events, first);
    if (this.#reader.started && live.phase !== "flowing") this.#flows();
  }
}

function resultOf(end: PassEnd | null): AttemptResult {
  switch (end?.on) {
    case undefined:
      return "aborted";
    case "whole":
    case "malformed":
      return "whole";
    case "cut":
      return end.cause === "upstream_broken" ? "broken" : "cut";
    case "discarded":
    case "spoiled":
      return "discarded";
    case "timeout":
      return "broken";
    default:
      return "refused";
  }
}

/** Of a reply that has had its last event. An error has no finish. */
function outcomeShown({ finish }: Reply): Outcome {
  if (finish === null) return "failed";
  return finish.kind === "cap" || finish.kind === "window" ? "cut_off" : "complete";
}

function lengthOf(reply: Reply): number {
  return reply.blocks.reduce((sum, block) => sum + block.text.length, 0);
}

function heardBy(reader: PassReader, draft: Draft): number {
  return reader instanceof Joiner ? reader.heard : lengthOf(draft.full());
}

/** Whether the last call of a cut turn can be carried on: all others are whole, and its arguments are JSON, which can be proven. */
function carriable(ask: Ask, calls: readonly Block[]): Facts["carries"] {
  const call = calls.at(-1);
  const json = ask.tools.find(({ name }) => name === call?.name)?.freeform !== true;
  const open = call !== undefined && call.name !== "" && json && shapeOf(call.text) !== "broken";
  const rest = calls.slice(0, -1).every(({ text }) => text.trim() === "" || shapeOf(text) === "closed");
  return { raw: open && rest, text: open && rest && call.text.trim() !== "" };
}
