import type { Fault, Finish, Part } from "../core/part.ts";
import { type Block, emptyReply, type Reply, take, textOf } from "../core/reply.ts";
import { newCodePoints, solidEnd } from "../stitch/characters.ts";
import { type Discard, lessonOf, type Seam, type SeamVerdict } from "../stitch/seam.ts";
import type { StopScan } from "../stitch/stop.ts";
import { Garbled, MOST_GARBAGE, parseEvents } from "../upstream/frames.ts";
import type { Frame } from "../wire/wire.ts";
import type { AskedCap } from "./asked-cap.ts";
import type { Ears } from "./ears.ts";

/** What becomes of the text of a pass. */
type TextMode =
  /** It joins the reply through a seam (or directly, where nothing was there before). */
  | "join"
  /** The turn is asked again, and its text was shown already: it is kept aside and compared. */
  | "aside";

export interface JoinerOptions {
  /** The reply so far; grows by what this pass adds. */
  readonly known: Reply;
  /** Decides the joint; null: nothing was there to join. */
  readonly seam: Seam | null;
  readonly channel: "text" | "reasoning" | "call";
  /** What the text of the pass stands for; null: it is text. */
  readonly ears: Ears | null;
  /** The calls of the turn so far, the last of which the pass carries on. */
  readonly calls: readonly Block[];
  readonly text: TextMode;
  /** Reasoning that was shown is not shown again, unless this pass goes on inside the thought; `sealed`: but for what is sealed and whole. */
  readonly reasoning: "show" | "mute" | "sealed";
  /** Number of this pass, to tell its blocks from those of others. */
  readonly pass: number;
  /** New output, cleaned and joined. `frame`: the upstream's own, for its unknown fields; null: of another wire. */
  readonly say: (parts: readonly Part[], frame: Frame | null) => void;
  /** The client's stop strings over the joined text; null: it has none. */
  readonly stops: StopScan | null;
  /** Where the visible text ends, whatever the upstream was sent as its cap; null: at the upstream's own end. */
  readonly askedCap: AskedCap | null;
  /** Reads one event of the upstream's wire. */
  readonly frame: (event: string, data: string) => Frame;
  /** Nothing more is wanted of this pass. `ended`: it has ended by itself. */
  readonly over: (ended: boolean) => void;
}

/** Numbers of different passes never meet: a block that a later pass opens is numbered from here. */
const BLOCKS_PER_PASS = 10_000;

/**
 * A later pass, joined to what is known: text through its seam, reasoning shown once, tool calls held until the end.
 * Everything is parsed; the upstream's own frames are handed on with the parts that remain of them.
 */
export class Joiner {
  started = false;
  fault: Fault | null = null;
  /** Why the pass cannot be joined. */
  discard: Discard | null = null;
  /** What the joint shows of a server that is believed to resume; null: nothing for certain. */
  lesson: "works" | "ignored" | null = null;
  /** Set once the seam is decided. */
  seam: { overlap: number; dropped: number } | null = null;
  /** What this pass says of its end, and its calls, which join `known` only when they are proven. */
  readonly end: Reply = emptyReply();
  readonly tail: Frame[] = [];
  /** Text kept aside. */
  aside = "";
  /** New code points that the reply has gained, blanks aside. */
  gained = 0;
  /** It called a tool where only text was of use. */
  calledAnyway = false;
  /** Characters that the pass generated, dropped or not. */
  heard = 0;
  /** Of these, what was dropped. */
  dropped = 0;
  readonly #o: JoinerOptions;
  #waiting: { frame: Frame | null; parts: Part[] }[] = [];
  #decided: boolean;
  /** The end of what came last, a text's or a thought's, that may be half a character. */
  #residue: { readonly part: Extract<Part, { kind: "text" | "reasoning" }>; readonly frame: Frame | null } | null =
    null;
  #over = false;
  #garbage = 0;
  /** The reply was ended here: what waited behind its end is none of it. */
  #ended = false;
  /** More text came than the cap allows. */
  #exceeded = false;

  constructor(options: JoinerOptions) {
    this.#o = options;
    this.#decided = options.seam === null;
    for (const call of options.calls) this.end.blocks.push({ ...call, ended: false });
  }

  /** It makes a call that cannot be read. */
  get lost(): boolean {
    return this.#o.ears?.lost === true;
  }

  raw(): void {}

  run(events: Buffer, first: boolean): void {
    for (const raw of parseEvents(events, first)) this.take(this.#o.frame(raw.event, raw.data));
  }

  take(frame: Frame): void {
    if (this.#over) return;
    if (frame.garbage) {
      if (++this.#garbage > MOST_GARBAGE) throw new Garbled(`${MOST_GARBAGE} events in a row that are no JSON`);
      return;
    }
    this.#garbage = 0;
    const flow: Part[] = [];
    for (const part of frame.parts) {
      if (part.kind === "text" || part.kind === "reasoning") {
        this.heard += part.text.length;
        this.#o.askedCap?.hear(part.text);
      } else if (part.kind === "tool") this.heard += part.args.length;
      if (part.kind === "fault") {
        this.fault = part.fault;
        this.#stop(true);
        return;
      }
      if (part.kind === "finish" || part.kind === "usage" || part.kind === "end") {
        if (part.kind !== "usage") flow.push(...this.#heard(this.#o.ears?.end() ?? []));
        take(this.end, part);
        if (part.kind !== "end") continue;
        this.#flow(flow, frame);
        this.#stop(true);
        return;
      }
      this.started = true;
      flow.push(...(this.#o.ears === null ? this.#own(part) : this.#read(this.#o.ears, part)));
    }
    if (frame.kind === "tail" || frame.parts.some((part) => part.kind === "finish")) this.tail.push(frame);
    this.#flow(flow, frame);
    if (this.#o.ears?.done === true) this.#enough();
  }

  /** Of the upstream's own output, what flows on. */
  #own(part: Part): Part[] {
    switch (part.kind) {
      case "text":
        if (this.#o.text === "aside") {
          this.aside += part.text;
          this.dropped += part.text.length;
        } else if (part.text !== "") return [{ ...part, block: this.#blockOf("text", part.block) }];
        return [];
      case "reasoning":
        if (this.#o.reasoning !== "show" || part.text === "") return [];
        return [{ ...part, block: this.#blockOf("reasoning", part.block) }];
      case "sealed_reasoning":
        if (this.#o.reasoning === "mute" || (this.#o.reasoning === "sealed" && part.whole !== true)) return [];
        return [{ ...part, block: this.#blockOf("reasoning", part.block) }];
      case "tool":
      case "tool_end":
        take(this.end, { ...part, block: this.#fresh("tool", part.block) });
        return [];
      default:
        return [];
    }
  }

  /** Only the text of such a pass is of use: what it says stands there in other words. */
  #read(ears: Ears, part: Part): Part[] {
    this.calledAnyway ||= part.kind === "tool";
    return part.kind === "text" ? this.#heard(ears.hear(part.text)) : [];
  }

  #heard(parts: readonly Part[]): Part[] {
    return parts.flatMap((part) => {
      if (part.kind !== "tool") return part.kind === "text" || part.kind === "reasoning" ? this.#own(part) : [];
      this.gained += newCodePoints(part.args);
      take(this.end, part);
      return [];
    });
  }

  /** All that was wanted of the pass has come: it need not be heard to its end. */
  #enough(): void {
    this.discard = this.#o.ears?.discard ?? null;
    this.end.ended = true;
    this.#stop(false);
  }

  /** The pass has ended: an undecided seam must decide. */
  close(): void {
    const { ears } = this.#o;
    if (ears !== null) {
      this.#flow(this.#heard(ears.end()), null);
      this.discard ??= ears.discard;
      this.seam ??= ears.seam;
      this.dropped += ears.seam?.dropped ?? 0;
    }
    if (!this.#decided && this.discard === null && this.#o.seam !== null) this.#decide(this.#o.seam.end(), true);
  }

  /** The reply has ended: what looked like half a character was all of it. */
  flush(): void {
    const held = this.#o.stops?.end() ?? "";
    if (held !== "") this.#give([{ kind: "text", block: this.#blockOf("text", 0), text: held }], null);
    const residue = this.#residue;
    this.#residue = null;
    if (residue !== null) this.#give([residue.part], residue.frame);
    if (this.#exceeded) this.#endAtCap();
  }

  /** A stop string is complete that no single pass could see: the reply ends before it, as the client wished. */
  #stopString(): void {
    this.#endWith({ kind: "done", raw: "stop" });
  }

  #endWith(finish: Finish): void {
    this.#ended = true;
    this.#residue = null;
    this.end.finish = finish;
    this.end.ended = true;
    this.#stop(false);
  }

  #flow(parts: Part[], frame: Frame | null): void {
    if ((parts.length === 0 && !this.#isOther(frame)) || this.discard !== null) return;
    if (this.#decided) {
      this.#solid(parts, frame);
      return;
    }
    this.#waiting.push({ frame, parts });
    for (const part of parts) {
      if (part.kind !== this.#o.channel) continue;
      const verdict = this.#o.seam?.push(part.text);
      if (verdict !== undefined && verdict.do !== "hold") {
        this.#decide(verdict, false);
        return;
      }
    }
  }

  #decide(verdict: SeamVerdict, ended: boolean): void {
    if (verdict.do === "hold") return;
    this.#decided = true;
    this.lesson = lessonOf(verdict);
    if (verdict.do === "discard") {
      this.discard = verdict.why;
      this.#waiting = [];
      if (!ended) this.#stop(false);
      return;
    }
    this.seam = { overlap: verdict.overlap, dropped: verdict.drop };
    // The server put an echo there without generating it: it is no part of what the pass cost.
    if (verdict.how === "echo") this.heard -= verdict.drop;
    else this.dropped += verdict.drop;
    let drop = verdict.drop;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { frame, parts } of waiting) {
      const left: Part[] = [];
      for (const part of parts) {
        if (part.kind !== this.#o.channel || drop === 0) left.push(part);
        else if (part.text.length <= drop) drop -= part.text.length;
        else {
          left.push({ ...part, text: part.text.slice(drop) });
          drop = 0;
        }
      }
      if (left.length > 0 || this.#isOther(frame)) this.#solid(left, frame);
    }
  }

  /** Output that no part has (server tools, citations, sound): it goes on as it came, but in a turn that is only compared. */
  #isOther(frame: Frame | null): boolean {
    const { ears, text } = this.#o;
    return frame?.kind === "output" && frame.parts.length === 0 && ears === null && text === "join";
  }

  /** Half a character at the end waits for its other half, or for the end. */
  #solid(parts: readonly Part[], frame: Frame | null): void {
    if (this.#ended) return;
    const solid: Part[] = [];
    let stopped = false;
    for (const part of parts) {
      if (part.kind !== "text" && part.kind !== "reasoning") {
        solid.push(part);
        continue;
      }
      const before = this.#residue?.part;
      this.#residue = null;
      // Another kind of output shows that it was no half.
      if (before !== undefined && before.kind !== part.kind) solid.push(before);
      const text = (before?.kind === part.kind ? before.text : "") + part.text;
      const end = solidEnd(text);
      if (end < text.length) this.#residue = { part: { ...part, text: text.slice(end) }, frame };
      const scanned = this.#scanned(part.kind, text.slice(0, end));
      if (scanned.emit !== "") solid.push({ ...part, text: scanned.emit });
      stopped ||= scanned.stopped;
    }
    if (solid.length > 0 || this.#isOther(frame)) this.#give(solid, frame);
    if (stopped) this.#stopString();
    else this.#endAtCap();
  }

  /** The client's stop strings end its text, and never a thought. */
  #scanned(kind: "text" | "reasoning", text: string): { readonly emit: string; readonly stopped: boolean } {
    const { stops } = this.#o;
    return stops === null || kind === "reasoning" ? { emit: text, stopped: false } : stops.push(text);
  }

  #give(parts: readonly Part[], frame: Frame | null): void {
    const given = parts.map((part) => this.#within(part));
    for (const part of given) {
      take(this.#o.known, part);
      if (part.kind === "text" || part.kind === "reasoning") this.gained += newCodePoints(part.text);
    }
    this.#o.say(given, this.#o.ears === null ? frame : null);
  }

  /** As much of it as is within the cap. A call is never cut, nor what stands behind one. */
  #within(part: Part): Part {
    const { askedCap } = this.#o;
    if (askedCap === null || part.kind !== "text" || this.#calls) return part;
    const fits = askedCap.fits(part.text);
    if (fits === part.text.length) return part;
    this.dropped += part.text.length - fits;
    this.#exceeded = true;
    return { ...part, text: part.text.slice(0, fits) };
  }

  /** The visible text would have been longer than it may be. */
  #endAtCap(): void {
    const { askedCap } = this.#o;
    if (askedCap !== null && this.#exceeded && !this.#calls) this.#endWith(askedCap.end());
  }

  /** It makes a call, or carries one on. */
  get #calls(): boolean {
    return this.end.blocks.length > 0;
  }

  /** Text goes on in the reply's last text block, and a resumed thought in the last thought; all else is new. */
  #blockOf(kind: "text" | "reasoning", block: number): number {
    const last = this.#o.known.blocks.findLast((have) => have.kind === kind);
    const joins = kind === "text" || this.#o.channel === "reasoning";
    return last !== undefined && joins ? last.block : this.#fresh(kind, block);
  }

  /** The upstream's own number, unless an earlier pass has used it for another block of this kind. */
  #fresh(kind: Block["kind"], block: number): number {
    const taken = this.#o.known.blocks.some((have) => have.kind === kind && have.block === block);
    return taken ? this.#o.pass * BLOCKS_PER_PASS + block : block;
  }

  #stop(ended: boolean): void {
    this.#over = true;
    this.#o.over(ended);
  }
}

/** What a turn that was asked again adds to the text that was shown, or null where it tells another story. */
export function regrown(shown: Reply, again: string): string | null {
  const text = textOf(shown);
  return again.startsWith(text) ? again.slice(text.length) : null;
}
