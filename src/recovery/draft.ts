import type { Outcome } from "../core/cut.ts";
import type { JsonObject } from "../core/json.ts";
import type { Finish, Part, Usage } from "../core/part.ts";
import { type Block, callsOf, emptyReply, type Reply, take, textOf } from "../core/reply.ts";
import { solidEnd } from "../stitch/characters.ts";
import { jsonState, lastWholeElement } from "../stitch/json.ts";
import { StopScan } from "../stitch/stop.ts";
import { parseEvents } from "../upstream/frames.ts";
import { lastwordOf } from "../wire/report.ts";
import type { Ending, Frame, Report, Voice } from "../wire/wire.ts";
import { AskedCap } from "./asked-cap.ts";
import { Forward } from "./forward.ts";
import type { Job } from "./job.ts";
import { Joiner, type JoinerOptions } from "./joiner.ts";
import type { PassRequest } from "./request.ts";
import { isWholeTurn, type Send } from "./state.ts";
import type { Teller } from "./teller.ts";
import { answerOf, thinkState } from "./think.ts";
import type { Headers } from "./transport.ts";
import { addedCalls, callParts, furtherCalls } from "./turn-calls.ts";
import { Withheld } from "./withheld.ts";

/** What an ending needs beside the reply. */
export interface Told {
  readonly report: Report | null;
  readonly usage: Usage | null;
  readonly facts: { readonly outcome: Outcome; readonly attempts: number; readonly cause: string | null };
}

const NONE: readonly never[] = [];

/** What the last pass was read by. */
export type PassReader = Forward | Joiner;

/**
 * The reply in the making: what is known of it over all passes, and what of that the client has been shown.
 * As long as the first showing stands it is the upstream's own bytes; it is taken apart only when something must be written in its place.
 */
export class Draft {
  readonly shown = { text: false, reasoning: false, tool: false };
  /** Called before new output of a later pass reaches the client. */
  onSaid: (() => void) | null = null;
  #job: Job;
  readonly #voice: Voice;
  readonly #teller: Teller;
  /** All that the reply consists of, without the last pass's calls, unless they were shown. */
  #known: Reply = emptyReply();
  /** What of `#known` waits until the whole is proven. */
  #withheld = new Withheld(this.#known);
  /** There is something of a reply, or was. */
  #begun = false;
  /** The calls of this turn that were cut, as far as they came. */
  #cut: readonly Block[] = [];
  /** The first showing, streamed or plain, while it stands as it came. */
  #forward: Forward | null = null;
  #plain: { readonly json: JsonObject; readonly raw: Buffer } | null = null;
  /** What the last pass says of its end, with its calls. */
  #end: Reply = emptyReply();
  #tail: readonly Frame[] = [];
  /** The last pass spoke of its end in words of its own: not those for what the client hears. */
  #wordless = false;
  #headers: Headers = {};
  #firstBody: JsonObject | null = null;
  #laterBodies: JsonObject[] = [];
  #askedCap: AskedCap | null;

  constructor(job: Job, voice: Voice, teller: Teller) {
    this.#job = job;
    this.#voice = voice;
    this.#teller = teller;
    this.#askedCap = askedCapOf(job);
  }

  /** The next pass is made elsewhere. */
  moved(job: Job): void {
    this.#job = job;
    this.#askedCap = askedCapOf(job);
  }

  /** Where the visible text ends, if lastword itself must see to it. */
  get askedCap(): AskedCap | null {
    return this.#askedCap;
  }

  get known(): Reply {
    return this.#known;
  }

  get end(): Reply {
    return this.#end;
  }

  /**
   * Begins with what another replica has shown of this reply before it was lost: whole events of this wire, as the client heard them.
   * @returns what they say of the end
   */
  restore(events: Buffer): Reply {
    const { wire } = this.#job;
    const read = wire.frames?.() ?? wire.frame;
    const shown = emptyReply();
    for (const { event, data } of parseEvents(events, false)) {
      const frame = read(event, data);
      if (frame.garbage) continue;
      for (const part of frame.parts) take(shown, part);
      this.#voice.passed(frame);
    }
    this.#begun = true;
    this.#known.blocks.push(...shown.blocks);
    this.#note(partsOf(shown));
    return shown;
  }

  // ---- a pass begins

  /**
   * Makes what the passes so far gave part of the reply, so that the next can join it.
   * false: the turn is asked again and nothing of it was shown, so that the next pass is a first showing.
   */
  keep(send: Send): boolean {
    if (!this.#begun) return false;
    this.#cut = this.#furtherCalls();
    if (isWholeTurn(send) && this.#untouched) {
      this.#known = emptyReply();
      this.#withheld = new Withheld(this.#known);
      this.#forward = null;
      this.#plain = null;
      this.#firstBody = null;
      this.#laterBodies = [];
      this.#end = emptyReply();
      return false;
    }
    this.#takeApart(true);
    this.#withheld.begin();
    const whole = send.back ? this.#wholeElements() : null;
    if (whole !== null) this.#withheld.shorten(textOf(this.#known).length - whole);
    return true;
  }

  /** The calls of the turn that was cut, as far as any pass came with them, without half a character at their end. */
  get turnCalls(): readonly Block[] {
    if (!this.#begun) return NONE;
    return this.#furtherCalls().map((call) => ({ ...call, text: call.text.slice(0, solidEnd(call.text)) }));
  }

  #furtherCalls(): readonly Block[] {
    return furtherCalls(this.#cut, callsOf(this.full()), callsOf(this.#known));
  }

  get #untouched(): boolean {
    const { text, reasoning, tool } = this.shown;
    return !text && !reasoning && !tool && this.#forward?.shown !== true;
  }

  /** The reply must have a format: what later passes join to it waits for its end. */
  get #proven(): boolean {
    return this.#job.ask.structured !== null;
  }

  /** So does all of it. */
  get #provenFirst(): boolean {
    return this.#proven && this.#job.policy.structured === "whole";
  }

  /** Reads a first showing. `holdsWord`: the unfinished last word is kept back, for the server could only be nudged to go on. */
  forward(request: PassRequest, holdsWord: boolean, over: (ended: boolean) => void): Forward {
    const { ask, wire, policy, heal, dialect } = this.#job;
    const holdWord = holdsWord && ask.stream && heal;
    this.#begun = true;
    this.#askedCap?.begin("");
    this.#forward = new Forward({
      wire,
      voice: this.#voice,
      clear: !heal && ask.stream,
      holdTools: policy.toolCalls === "whole",
      holdAll: !ask.stream || this.#provenFirst,
      holdWord,
      careful: this.#proven || !ask.stream || holdWord || this.#askedCap !== null,
      askedCap: this.#askedCap,
      dropUsage: request.dropUsage,
      losesOpening: dialect.losesOpening === true,
      out: (bytes) => this.#teller.say(bytes),
      over,
    });
    return this.#forward;
  }

  /** Reads a pass that goes on with what is known. */
  joiner(send: Send, request: PassRequest, pass: number, over: (ended: boolean) => void): Joiner {
    const { ask } = this.#job;
    this.#askedCap?.begin(textOf(this.#known));
    return new Joiner({
      known: this.#known,
      seam: request.seam,
      channel: request.channel,
      ears: request.ears,
      calls: request.calls,
      text: isWholeTurn(send) && (this.shown.text || this.shown.tool) ? "aside" : "join",
      reasoning: this.#reasoningOf(send, request),
      pass,
      say: (parts, frame) => this.#sayLater(parts, frame),
      stops: ask.stop.length > 0 ? new StopScan(ask.stop, textOf(this.#known)) : null,
      askedCap: this.#askedCap,
      frame: request.wire.frames?.() ?? request.wire.frame,
      over,
    });
  }

  /** A turn's sealed reasoning belongs to its calls: clients send it back with them. */
  #reasoningOf(send: Send, request: PassRequest): JoinerOptions["reasoning"] {
    if (!this.shown.reasoning || request.channel === "reasoning") return "show";
    return isWholeTurn(send) ? "sealed" : "mute";
  }

  // ---- a pass has ended

  heard(headers: Headers): void {
    this.#headers = headers;
    this.#teller.heard(headers);
  }

  /** A plain body is read as the one event that it is. */
  takePlain(reader: PassReader, request: PassRequest, json: JsonObject, raw: Buffer, parts: readonly Part[]): void {
    const said = emptyReply();
    for (const part of parts) take(said, part);
    this.#askedCap?.weigh(said);
    if (reader instanceof Forward) {
      this.#forward = null;
      this.#plain = { json, raw };
      this.#end = { ...said, ended: true };
      if (this.#askedCap !== null) this.#endAt(this.#askedCap);
    } else {
      if (request.wire === this.#job.wire) this.#laterBodies.push(json);
      reader.take({ kind: "output", event: "", data: "", json: null, parts, usageOnly: false, garbage: false });
      reader.end.ended = true;
    }
  }

  /** The text of a plain body may go beyond the cap. A call is never cut; behind a text that is, it would not have come in a stream either. */
  #endAt(cap: AskedCap): void {
    const { blocks } = this.#end;
    const calls = blocks.findIndex(({ kind }) => kind === "tool");
    for (const [at, block] of blocks.slice(0, calls === -1 ? blocks.length : calls).entries()) {
      const fits = block.kind === "text" ? cap.fits(block.text) : block.text.length;
      if (fits === block.text.length) continue;
      block.text = block.text.slice(0, fits);
      for (const behind of blocks.splice(at + 1)) cap.drop(behind.text);
      this.#end.finish = cap.end();
      return;
    }
  }

  /** Closes the reader of a pass; afterwards `end` tells its end and `full` the whole reply with it. */
  close(reader: PassReader, request: PassRequest): void {
    if (reader instanceof Joiner) {
      reader.close();
      // A pass that cannot be joined has told nothing, its end aside.
      this.#end = reader.discard === null && !reader.lost ? reader.end : { ...reader.end, blocks: [] };
      this.#tail = request.wire === this.#job.wire ? reader.tail : [];
      this.#wordless = request.ears !== null;
    } else if (this.#plain === null) this.#end = reader.end();
  }

  /** No reply began. */
  nothing(): void {
    this.#end = emptyReply();
    this.#tail = [];
  }

  /** The whole reply with the last pass; what had flowed is parsed for it. */
  full(): Reply {
    if (this.#plain !== null) return this.#end;
    if (this.#forward !== null) return this.#forward.whole();
    const full = emptyReply();
    const calls = callsOf(this.#end);
    const known = calls.length === 0 ? this.#known.blocks : this.#known.blocks.filter(({ kind }) => kind !== "tool");
    full.blocks.push(...known, ...calls);
    return full;
  }

  /** Some visible text has been shown, also where the first showing still stands unparsed. */
  get shownText(): boolean {
    return this.shown.text || (this.#forward?.shown === true && textOf(this.#forward.settle().flowed) !== "");
  }

  get shownReasoning(): boolean {
    return (
      this.shown.reasoning || (this.#forward?.shown === true && this.#forward.settle().flowed.blocks.some(isReasoning))
    );
  }

  get shownTool(): boolean {
    return this.shown.tool || (this.#forward?.shown === true && callsOf(this.#forward.settle().flowed).length > 0);
  }

  /** The calls of the last pass are not to be delivered: everything else stands. */
  dropCalls(): void {
    this.#takeApart();
    this.#end = { ...this.#end, blocks: [] };
  }

  /** The last pass spoils the whole: nothing of it is kept. */
  undo(): void {
    this.#end = { ...this.#end, blocks: [] };
    if (this.#proven) this.#withheld.undo();
  }

  /** The calls of the last pass do not contradict those that were shown. */
  get coherent(): boolean {
    return addedCalls(callsOf(this.#known), callsOf(this.#end)) !== null;
  }

  /** The format's text ends in a list of which some whole element has not been shown to its end. */
  get divisible(): boolean {
    return this.#proven && this.#wholeElements() !== null;
  }

  /** Where the last whole element of the list ends, in characters of all text; null: nowhere, or not before what was shown. */
  #wholeElements(): number | null {
    const text = textOf(this.full());
    const from = thinkState(text).answerAt;
    const whole = lastWholeElement(text.slice(from));
    if (whole === null) return null;
    const end = from + whole.end;
    return end < text.length && end >= this.#shownLength(text) ? end : null;
  }

  #shownLength(text: string): number {
    if (!this.#job.ask.stream || this.#plain !== null) return 0;
    if (this.#forward === null) return text.length - this.#withheld.length;
    return this.#forward.shown ? textOf(this.#forward.settle().flowed).length : 0;
  }

  /** New output becomes part of the reply and is said. */
  give(parts: readonly Part[], frame: Frame | null = null): void {
    for (const part of parts) take(this.#known, part);
    this.#say(parts, frame);
  }

  /** The same of text that goes on with what was shown, as far as it is within the asked cap. */
  giveRest(text: string): void {
    const fits = this.#askedCap?.fits(text) ?? text.length;
    if (fits < text.length) this.#end.finish = this.#askedCap?.end() ?? this.#end.finish;
    if (fits > 0) this.give([{ kind: "text", block: 0, text: text.slice(0, fits) }]);
  }

  // ---- the end

  /** Of some of the text that the client gets there are log probabilities, of some there are none. Known once all has been said. */
  get lacksLogprobs(): boolean {
    if (this.#plain !== null || this.#forward !== null) return false;
    const body = { first: this.#firstBody, reply: this.#known, later: this.#laterBodies };
    return this.#voice.lacksLogprobs?.(this.#job.ask.stream ? null : body) === true;
  }

  /** Everything is whole: the standing bytes as they came, or the joined reply. @param tell called once all has been said */
  deliver(tell: () => Told): void {
    if (this.#endAsItCame(tell, true)) return;
    this.#takeApart();
    this.#release();
    this.give(addedCalls(callsOf(this.#known), callsOf(this.#end)) ?? []);
    this.#write(tell(), this.#wholeFinish());
  }

  /** Ends cut: all that is true, no half call, and the finish that says so. */
  stop(tell: () => Told): void {
    const clean = callsOf(this.#end).length === 0 && isCut(this.#end.finish) && this.#askedCap?.ended !== true;
    if (clean && this.#endAsItCame(tell, false)) return;
    this.#takeApart();
    // What was joined is not proven. A stream ends with what was shown; a body may have all that can still be a beginning.
    if (this.#proven && (this.#job.ask.stream || jsonState(answerOf(textOf(this.#known))).broken))
      this.#withheld.forsake();
    this.#release();
    this.#write(tell(), isCut(this.#end.finish) ? this.#end.finish : { kind: "cap", raw: "" });
  }

  #wholeFinish(): Finish {
    const { finish } = this.#end;
    if (finish !== null && !isCut(finish) && !this.#wordless) return finish;
    return { kind: callsOf(this.#end).length > 0 ? "tools" : "done", raw: "" };
  }

  #release(): void {
    for (const { parts, frame } of this.#withheld.release()) this.#say(parts, frame);
  }

  /** The upstream's own words, whatever they are worth: healing is off. */
  passOn(told: Told): void {
    const rest = this.#forward?.rest();
    if (rest !== undefined) this.#teller.endStream(rest);
    else if (this.#plain !== null) this.#teller.endPlain(this.#plain.raw, this.#headers, told.facts);
    else this.#endWritten(told, { kind: "done", raw: "" });
  }

  #endWritten(told: Told, finish: Finish): void {
    this.#takeApart();
    this.#write(told, finish);
  }

  #endAsItCame(tell: () => Told, whole: boolean): boolean {
    const plain = this.#plain;
    if (plain !== null) {
      if (whole && !saysSo(this.#end)) return false;
      const told = tell();
      const { report } = told;
      const json = report === null ? plain.json : { ...plain.json, lastword: lastwordOf(report) };
      if (this.#job.ask.stream) this.#teller.endStream(this.#voice.stream(json));
      else this.#teller.endPlain(report === null ? plain.raw : JSON.stringify(json), this.#headers, told.facts);
      return true;
    }
    if (this.#forward === null || !this.#job.ask.stream || (whole && !saysSo(this.#end))) return false;
    const tail = this.#forward.tail();
    if (tail === null) return false;
    const { opening, frames, bytes } = tail;
    const { report } = tell();
    if (opening !== "") this.#teller.say(opening);
    this.#teller.endStream(report === null ? bytes : this.#voice.annotate(frames, report));
    return true;
  }

  #write(told: Told, finish: Finish): void {
    const ending: Ending = {
      finish,
      reply: this.#known,
      usage: told.usage,
      tail: this.#tail,
      report: told.report,
      later: this.#laterBodies,
    };
    if (this.#job.ask.stream) this.#teller.endStream(this.#voice.finish(ending));
    else this.#teller.endPlain(JSON.stringify(this.#voice.body(this.#firstBody, ending)), this.#headers, told.facts);
  }

  // ---- parts of the above

  /** `goesOn`: a further pass follows, which writes again the last word, if it was held back. */
  #takeApart(goesOn = false): void {
    const plain = this.#plain;
    if (plain !== null) {
      this.#plain = null;
      this.#firstBody = plain.json;
      for (const block of this.#end.blocks) if (block.kind !== "tool") this.#known.blocks.push(block);
      this.#trim();
      // A stream was asked for and a body came: what it said is said now.
      if (this.#job.ask.stream) this.#voice.named(plain.json);
      this.#sayFirst(partsOf(this.#known), null);
    }
    const forward = this.#forward;
    if (forward === null) return;
    this.#forward = null;
    const { flowed, held } = forward.settle();
    for (const block of flowed.blocks) this.#known.blocks.push(block);
    this.#note(partsOf(flowed));
    const again = goesOn && forward.holdsWord && this.shown.text;
    for (const whole of held) {
      if (again && whole.parts.some((part) => part.kind === "text")) continue;
      // A plain reply that came as a stream: the voice has heard nothing of it yet.
      if (!this.#job.ask.stream) this.#voice.passed(whole);
      else if (!forward.shown && whole.json !== null) this.#voice.named(whole.json);
      for (const frame of this.#job.wire.split?.(whole) ?? [whole]) this.#keepHeld(frame);
    }
  }

  /** A held frame that was not the end: what it says is true, its finish and its half calls are not. */
  #keepHeld(frame: Frame): void {
    const solid: Part[] = [];
    for (const part of frame.parts) {
      if (part.kind !== "text" && part.kind !== "reasoning") continue;
      const end = solidEnd(part.text);
      if (end > 0) solid.push({ ...part, text: part.text.slice(0, end) });
    }
    if (solid.length === 0) return;
    for (const part of solid) take(this.#known, part);
    this.#sayFirst(solid, frame);
  }

  /** Output of the first showing. */
  #sayFirst(parts: readonly Part[], frame: Frame | null): void {
    if (this.#provenFirst) this.#withheld.first(parts, frame);
    else this.#say(parts, frame);
  }

  /** Output of a later pass. A thought flows on as long as nothing before it waits. */
  #sayLater(parts: readonly Part[], frame: Frame | null): void {
    const waits = this.#withheld.length > 0 || parts.some(({ kind }) => kind === "text");
    if (this.#proven && waits) {
      this.#withheld.join(parts, frame);
      return;
    }
    this.#say(parts, frame);
    if (this.#proven) this.#withheld.settle();
  }

  /** Half a character at the end of a plain reply is left for the next pass to write. */
  #trim(): void {
    const last = this.#known.blocks.findLast((block) => block.kind === "text");
    if (last !== undefined) last.text = last.text.slice(0, solidEnd(last.text));
  }

  #say(parts: readonly Part[], frame: Frame | null): void {
    const nothing = parts.length === 0 && frame?.parts.length !== 0;
    if (!this.#job.ask.stream || nothing) return;
    this.#note(parts);
    this.onSaid?.();
    this.#teller.say(this.#voice.say(parts, frame));
  }

  #note(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.kind === "text" && part.text !== "") this.shown.text = true;
      else if (part.kind === "reasoning" || part.kind === "sealed_reasoning") this.shown.reasoning = true;
      else if (part.kind === "tool") this.shown.tool = true;
    }
  }
}

/** Under `strict` more is sent than the cap that was asked for only so that a thought has its room. */
function askedCapOf({ strict, ask, plan }: Job): AskedCap | null {
  return strict && ask.cap !== null && plan.reason === "allowance" ? new AskedCap(ask.cap.tokens) : null;
}

function isReasoning(block: { readonly kind: string }): boolean {
  return block.kind === "reasoning";
}

function isCut(finish: Finish | null): finish is Finish {
  return finish?.kind === "cap" || finish?.kind === "window";
}

/** The pass's own finish already says what is true of a whole reply. */
function saysSo(end: Reply): boolean {
  if (end.finish === null || isCut(end.finish)) return false;
  return true;
}

function partsOf(reply: Reply): Part[] {
  return reply.blocks.flatMap((block): Part[] => {
    if (block.kind === "tool") return callParts([block]);
    return block.text === "" ? [] : [{ kind: block.kind, block: block.block, text: block.text }];
  });
}
