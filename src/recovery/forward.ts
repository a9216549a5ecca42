import type { Fault, Part } from "../core/part.ts";
import { emptyReply, type Reply, take } from "../core/reply.ts";
import { solidEnd, wordHold } from "../stitch/characters.ts";
import { Garbled, MOST_GARBAGE, parseEvents } from "../upstream/frames.ts";
import { eventOf } from "../wire/sse.ts";
import type { Frame, Voice, Wire } from "../wire/wire.ts";
import { AlikeReader } from "./alike.ts";
import type { AskedCap } from "./asked-cap.ts";

/** Reads that have flowed are kept unparsed up to this size; then they are parsed into the reply and let go. */
const MOST_UNPARSED_BYTES = 256 * 1024;
/** A run with more alarms than this is parsed to its end: scanning it again and again would cost more. */
const MOST_ALARMS = 8;

const NONE = Buffer.alloc(0);

/** Calls of one turn: more are no turn, and each costs what its checks cost. */
const MOST_CALLS = 4_096;

export interface ForwardOptions {
  readonly wire: Wire;
  readonly voice: Voice;
  /** Bytes go on as they came, whatever they say; events are only watched. Healing is off. */
  readonly clear: boolean;
  /** Tool calls are held until the end. */
  readonly holdTools: boolean;
  /** The unfinished last word is held until it goes on or ends: a server that can only be nudged writes it again. */
  readonly holdWord: boolean;
  /** Everything is held until the end. */
  readonly holdAll: boolean;
  /** The reply must be known in full at its end, or as it flows (a format, a cap): no event goes by unparsed. */
  readonly careful: boolean;
  /** Where the visible text ends, whatever the upstream was sent as its cap; null: at the upstream's own end. */
  readonly askedCap: AskedCap | null;
  /** Usage is in the stream only because lastword asked for it. */
  readonly dropUsage: boolean;
  /** The server is known to leave out what opens a reply. */
  readonly losesOpening: boolean;
  /** Bytes for the client; the first call decides the status. */
  readonly out: (bytes: Buffer) => void;
  /** Nothing more is wanted of the stream. `ended`: its terminal event or a fault was seen. */
  readonly over: (ended: boolean) => void;
}

interface Held {
  readonly frame: Frame;
  readonly bytes: Buffer;
}

/**
 * The first showing of a reply: the upstream's own bytes go on as they came.
 * A scan looks for what is more than plain output, and only then are events parsed; what has flowed is kept and parsed when a cut asks.
 * Events that are true only if the reply ends here (finish, usage, terminal event) wait, and all behind them, for its end.
 */
export class Forward {
  /** The first output was seen. */
  started = false;
  /** Some of the output has reached the client. */
  shown = false;
  fault: Fault | null = null;
  readonly #o: ForwardOptions;
  /** Reads this stream, event by event. */
  readonly #read: Wire["frame"];
  readonly #flowed: Reply = emptyReply();
  #alike: AlikeReader | null = null;
  #unparsed: Buffer[] = [];
  #unparsedBytes = 0;
  #held: Held[] = [];
  /** What the first so many of these say: a long call is added up as it comes, and not all at once at its end. */
  #sum: Reply = emptyReply();
  #summed = 0;
  #holding: boolean;
  readonly #calls = new Set<number>();
  #over = false;
  #garbage = 0;
  /** Made once they are asked for, which is more than once. */
  #whole: Reply | null = null;
  #end: Reply | null = null;
  /** Of a clear stream, what came before its first output. */
  #unsent: Buffer[] = [];

  constructor(options: ForwardOptions) {
    this.#o = options;
    this.#read = options.wire.frames?.() ?? options.wire.frame;
    this.#holding = options.holdAll;
  }

  /** Of a clear stream the bytes flow here, and not as events. */
  raw(chunk: Buffer): void {
    if (!this.#o.clear) return;
    if (this.shown) this.#o.out(chunk);
    else this.#unsent.push(chunk);
  }

  get holdsWord(): boolean {
    return this.#o.holdWord;
  }

  /** Takes a run of whole events. `first`: the first of the stream. */
  run(events: Buffer, first: boolean): void {
    this.#whole = null;
    this.#end = null;
    if (this.#o.clear) {
      this.#watch(events, first);
      return;
    }
    let rest = events;
    for (let alarms = 0; rest.length > 0 && !this.#over; alarms++) {
      const plain = alarms > MOST_ALARMS ? 0 : this.#plainUntil(rest);
      if (plain > 0) this.#skip(rest.subarray(0, plain));
      // What flows can go by unparsed: so only the event that must be read is, and the scan goes on behind it.
      const end =
        this.#o.wire.alarm === null || this.#o.careful || alarms > MOST_ALARMS ? rest.length : firstEvent(rest, plain);
      for (const raw of parseEvents(rest.subarray(plain, end), first && rest === events)) {
        if (this.#over) return;
        this.#step(this.#read(raw.event, raw.data), raw.bytes);
      }
      rest = rest.subarray(end);
    }
  }

  /** How many of these bytes are whole events of plain output, for which nothing waits: they need no parsing now. */
  #plainUntil(events: Buffer): number {
    const { wire, careful } = this.#o;
    if (!this.shown || careful || this.#holding || this.#held.length > 0 || wire.alarm === null) return 0;
    const at = wire.alarm.exec(events.toString("latin1"))?.index;
    if (at === undefined) return events.length;
    // Back to where the alarming event begins.
    const before = at < 2 ? -1 : events.lastIndexOf("\n\n", at - 2);
    return before === -1 ? 0 : before + 2;
  }

  #skip(events: Buffer): void {
    this.#keep(events);
    this.#o.out(events);
  }

  /**
   * What the held end says: finish, usage, terminal event, and every tool call where calls are held.
   * Text is not among it unless every event was parsed (`careful`); `settle` gives all.
   */
  end(): Reply {
    if (this.#calls.size > 0) this.#parse();
    this.#end ??= this.#ending();
    return copyOf(this.#end);
  }

  #ending(): Reply {
    const end = copyOf(this.#flowed);
    add(end, this.#sum);
    for (const { frame } of this.#held.slice(this.#summed)) for (const part of frame.parts) take(end, part);
    return end;
  }

  /** All that has come, flowed and held. */
  whole(): Reply {
    if (this.#whole === null) {
      this.#parse();
      this.#whole = this.end();
    }
    return copyOf(this.#whole);
  }

  /** What has flowed to the client, and the frames that were held. From here on the voice knows all that was passed. */
  settle(): { readonly flowed: Reply; readonly held: readonly Frame[] } {
    this.#parse();
    return { flowed: this.#flowed, held: this.#held.map((held) => held.frame) };
  }

  /**
   * The held events as they came, for an end that is true as it stands; null where it must be written anew: no finish or no terminal
   * event. Repeated finishes and what stands behind the terminal event are left out.
   */
  tail(): { readonly opening: string; readonly frames: Frame[]; readonly bytes: Buffer } | null {
    const frames: Frame[] = [];
    const bytes: Buffer[] = [];
    let finished = false;
    let ended = false;
    for (const { frame, bytes: raw } of this.#held) {
      if (this.#o.dropUsage && frame.usageOnly) continue;
      const finishes = frame.parts.some((part) => part.kind === "finish");
      if (finishes && finished && frame.parts.length === 1) continue;
      finished ||= finishes;
      ended ||= frame.parts.some((part) => part.kind === "end");
      frames.push(frame);
      bytes.push(raw);
    }
    return finished && ended ? { opening: this.#opening(), frames, bytes: Buffer.concat(bytes) } : null;
  }

  /** What a clear stream held back until its first output, which never came. */
  rest(): Buffer {
    return Buffer.concat(this.#unsent.splice(0));
  }

  #watch(events: Buffer, first: boolean): void {
    if (this.shown && this.#o.wire.alarm?.test(events.toString("latin1")) === false) return;
    for (const raw of parseEvents(events, first)) {
      const frame = this.#read(raw.event, raw.data);
      for (const part of frame.parts) {
        take(this.#flowed, part);
        // Behind the first output a fault is the client's to read, as it came.
        if (part.kind === "fault" && !this.shown) this.fault = part.fault;
        if (isOutput(part)) this.started = true;
      }
    }
    if (this.fault !== null) this.#o.over(true);
    else if (this.started && !this.shown) {
      this.shown = true;
      this.#o.out(this.rest());
    }
  }

  #step(frame: Frame, bytes: Buffer): void {
    if (frame.garbage) {
      if (++this.#garbage > MOST_GARBAGE) throw new Garbled(`${MOST_GARBAGE} events in a row that are no JSON`);
      return;
    }
    this.#garbage = 0;
    const { askedCap } = this.#o;
    if (askedCap !== null && this.#exceeds(askedCap, frame)) return;
    let ends = false;
    let waits = frame.kind === "tail";
    for (const part of frame.parts) {
      if (part.kind === "fault") {
        this.fault = part.fault;
        ends = true;
      } else if (part.kind === "end") ends = true;
      else if (part.kind === "finish") waits = true;
      else if (part.kind === "tool") {
        this.#calls.add(part.block);
        if (this.#calls.size > MOST_CALLS) throw new Garbled(`more than ${MOST_CALLS} tool calls`);
        this.#holding ||= this.#o.holdTools;
      } else if (part.kind === "text" || part.kind === "reasoning") waits ||= solidEnd(part.text) < part.text.length;
    }
    if (frame.kind === "output" || frame.parts.some(isOutput)) this.started = true;
    if (this.fault === null) {
      const quietly = frame.kind === "quiet" && (!this.shown || this.#held.length > 0);
      if (this.#holding || waits || quietly) this.#hold(frame, bytes);
      else if (this.#o.holdWord && textIn(frame) !== "") this.#releaseWords(frame, bytes);
      else this.#release(frame, bytes);
    }
    if (ends) {
      this.#over = true;
      this.#o.over(true);
    }
  }

  /** The visible text goes beyond the cap with this frame: only what is within is held. A call is never cut, nor what stands behind one. */
  #exceeds(cap: AskedCap, frame: Frame): boolean {
    if (this.#calls.size > 0 || frame.parts.some(({ kind }) => kind === "tool")) return false;
    const within = frame.parts.map((part) => cap.within(part));
    if (within.every((part, at) => part === frame.parts[at])) return false;
    const [output = frame] = this.#o.wire.split?.(frame) ?? [];
    this.#held.push({ frame: { ...output, parts: within.filter(isOutput) }, bytes: NONE });
    this.started = true;
    take(this.#flowed, { kind: "finish", choice: 0, finish: cap.end() });
    this.#over = true;
    this.#o.over(false);
    return true;
  }

  #hold(frame: Frame, bytes: Buffer): void {
    this.#held.push({ frame, bytes });
    // What may still flow is not added up: it may carry on calls that flowed.
    if (!this.#holding) return;
    for (const held of this.#held.slice(this.#summed)) for (const part of held.frame.parts) take(this.#sum, part);
    this.#summed = this.#held.length;
  }

  /** The same, but the events that hold the last word wait for what follows it. */
  #releaseWords(frame: Frame, bytes: Buffer): void {
    this.#held.push({ frame, bytes });
    let keep = wordHold(this.#held.map((held) => textIn(held.frame)).join(""));
    let from = this.#held.length;
    while (from > 0 && keep > 0) keep -= textIn(this.#held[--from]?.frame ?? frame).length;
    // Nothing goes out before the first output does.
    if (!this.#held.slice(0, from).some((held) => held.frame.kind === "output")) return;
    const kept = this.#held.splice(from);
    const last = this.#held.pop();
    if (last !== undefined) this.#release(last.frame, last.bytes);
    this.#held = kept;
  }

  /** More output proves that what was held was not the end. */
  #release(frame: Frame, bytes: Buffer): void {
    const opening = this.#opening(frame);
    if (opening !== "") this.#o.out(Buffer.from(opening));
    this.shown ||= frame.kind === "output";
    for (const held of this.#held) this.#flowHeld(held);
    this.#held = [];
    this.#flow(frame, bytes);
  }

  /** A finish that was not the end is remembered, and not shown: the end has its own. */
  #flowHeld({ frame, bytes }: Held): void {
    if (!frame.parts.some((part) => part.kind === "finish")) {
      this.#flow(frame, bytes);
      return;
    }
    for (const half of this.#o.wire.split?.(frame) ?? [frame]) {
      if (half.kind === "output") this.#flow(half, Buffer.from(eventOf(half)));
      else {
        // Usage is cumulative: the last one stands.
        this.#parse();
        for (const part of half.parts) take(this.#flowed, part);
      }
    }
  }

  /** What must stand before the frames that are held, and `last` behind them, if they are the first to go out. */
  #opening(...last: readonly Frame[]): string {
    if (this.shown) return "";
    return this.#o.voice.opening([...this.#held.map(({ frame }) => frame), ...last], this.#o.losesOpening);
  }

  #flow(frame: Frame, bytes: Buffer): void {
    if (this.#unparsed.length === 0) this.#take(frame);
    else this.#keep(bytes);
    if (bytes.length > 0) this.#o.out(bytes);
  }

  #keep(bytes: Buffer): void {
    this.#unparsed.push(bytes);
    this.#unparsedBytes += bytes.length;
    if (this.#unparsedBytes > MOST_UNPARSED_BYTES) this.#parse();
  }

  #parse(): void {
    if (this.#unparsed.length === 0) return;
    this.#end = null;
    // Events go by unparsed only on wires that read each of them alone.
    this.#alike ??= new AlikeReader(this.#o.wire.frame);
    for (const run of this.#unparsed) this.#alike.read(run, (frame) => this.#take(frame));
    this.#unparsed = [];
    this.#unparsedBytes = 0;
  }

  #take(frame: Frame): void {
    for (const part of frame.parts) take(this.#flowed, part);
    this.#o.voice.passed(frame);
  }
}

/** Adds to a reply what another, which followed it, says. */
function add(reply: Reply, more: Reply): void {
  for (const { kind, block, text, id, name, ended, sealed } of more.blocks) {
    if (kind === "tool") take(reply, { kind, block, id, name, args: text });
    else take(reply, { kind, block, text });
    if (sealed) take(reply, { kind: "sealed_reasoning", block });
    if (ended) take(reply, { kind: "tool_end", block });
  }
  if (more.finish !== null) take(reply, { kind: "finish", choice: 0, finish: more.finish });
  reply.usage = more.usage ?? reply.usage;
  reply.ended ||= more.ended;
}

function copyOf(reply: Reply): Reply {
  return { ...reply, blocks: reply.blocks.map((block) => ({ ...block })) };
}

function isOutput(part: Part): boolean {
  return part.kind === "text" || part.kind === "reasoning" || part.kind === "tool";
}

/** The end of the event that begins at `from`; the whole run where its line ends are of another kind. */
function firstEvent(run: Buffer, from: number): number {
  const at = run.indexOf("\n\n", from);
  return at === -1 || run.includes("\r") ? run.length : at + 2;
}

function textIn(frame: Frame): string {
  return frame.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}
