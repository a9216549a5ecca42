import type { Part } from "../core/part.ts";
import { parseEvents } from "../upstream/frames.ts";
import type { Frame, Wire } from "../wire/wire.ts";

type Said = Extract<Part, { kind: "text" | "reasoning" }>;

/** An event that was read, and what stands in it before and behind its text. */
interface Model {
  readonly before: string;
  readonly after: string;
  readonly frame: Frame;
  readonly part: Said;
}

/** Stands for a text, to see what becomes of one. */
const PROBE = "\u2603 any text";
/** Models that no event was like, before none is made any more: each event of such a stream has a time or a number of its own. */
const MOST_USELESS = 4;
const CR = 13;

/**
 * Reads plain events of a wire that reads each alone. Those of one stream mostly differ in their text only: where all else of an event is
 * that of one read before, letter by letter, its text is taken out, and the rest is as it was. It costs a tenth of parsing.
 * @throws nothing that reading would not throw
 */
export class AlikeReader {
  readonly #read: Wire["frame"];
  #model: Model | null = null;
  #useless = 0;

  constructor(read: Wire["frame"]) {
    this.#read = read;
  }

  /** @param events whole ones, each with its blank line. The frames' `json` and `data` may be those of an event before it: only parts differ */
  read(events: Buffer, take: (frame: Frame) => void): void {
    if (events.includes(CR)) {
      for (const raw of parseEvents(events, false)) take(this.#read(raw.event, raw.data));
      return;
    }
    const text = events.toString();
    for (let from = 0; from < text.length; ) {
      const blank = text.indexOf("\n\n", from);
      const end = blank === -1 ? text.length : blank + 2;
      const event = text.slice(from, end);
      from = end;
      const alike = this.#alike(event);
      if (alike !== null) take(alike);
      else for (const frame of this.#parsed(event)) take(frame);
    }
  }

  #parsed(event: string): Frame[] {
    const frames = this.#frames(event);
    const [frame] = frames;
    if (frame !== undefined && frames.length === 1 && this.#useless < MOST_USELESS) this.#learn(event, frame);
    return frames;
  }

  #frames(event: string): Frame[] {
    return parseEvents(Buffer.from(event), false).map((raw) => this.#read(raw.event, raw.data));
  }

  #alike(event: string): Frame | null {
    if (this.#model === null) return null;
    const { before, after, frame, part } = this.#model;
    if (event.length <= before.length + after.length || !event.startsWith(before) || !event.endsWith(after))
      return null;
    const text = literal(event.slice(before.length, event.length - after.length));
    if (text === null) return null;
    this.#useless = 0;
    return { ...frame, parts: [{ ...part, text }] };
  }

  /** An event whose only part stands in it once, as one string; that it is this one, a probe in its place shows. */
  #learn(event: string, frame: Frame): void {
    const [part] = frame.parts;
    if (frame.parts.length !== 1 || (part?.kind !== "text" && part?.kind !== "reasoning")) return;
    const quoted = JSON.stringify(part.text);
    const at = event.indexOf(quoted);
    if (at === -1 || event.includes(quoted, at + 1)) return;
    this.#useless++;
    const before = event.slice(0, at + 1);
    const after = event.slice(at + quoted.length - 1);
    const [probed, ...more] = this.#frames(before + PROBE + after);
    const [said, ...others] = probed?.parts ?? [];
    if (probed?.kind !== frame.kind || more.length + others.length > 0) return;
    if (said?.kind !== part.kind || said.block !== part.block || said.text !== PROBE) return;
    this.#model = { before, after, frame, part };
  }
}

/** What a JSON string says, given without its quotes; null where it is none. */
function literal(inner: string): string | null {
  if (!/["\\\p{Cc}]/u.test(inner)) return inner;
  try {
    const text: unknown = JSON.parse(`"${inner}"`);
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
}
