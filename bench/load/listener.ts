import { micros } from "../clock.ts";
import { RECITAL, recitedLength, SCENARIOS, STAMP } from "../scenarios.ts";
import type { Group } from "./job.ts";
import type { Times } from "./spread.ts";

/** Hears the body of one answer after the other. */
export interface Listener {
  begin(sentAt: number): void;
  hear(bytes: Buffer, start: number, end: number): void;
  /** What was wrong with the answer, or null. */
  end(): string | null;
  /** Tokens heard so far, over all answers. */
  readonly tokens: number;
}

export interface Gauges {
  readonly firstToken: Times;
  readonly delay: Times;
  readonly seam: Times;
}

export function listenerFor(group: Group, gauges: Gauges): Listener {
  if (!group.stream) return new PlainListener();
  const { everyMs, continues, chunks } = SCENARIOS[group.model];
  if (everyMs > 0) return new StampReader(chunks, gauges);
  return continues ? new RecitalReader(group.cap, gauges) : new EventCounter(chunks);
}

class PlainListener implements Listener {
  readonly tokens = 0;
  #bytes = 0;

  begin(): void {
    this.#bytes = 0;
  }

  hear(_bytes: Buffer, start: number, end: number): void {
    this.#bytes += end - start;
  }

  end(): string | null {
    return this.#bytes > 0 ? null : "empty body";
  }
}

/** Counts the events of bursts, and looks at nothing else: reading them would cost more than what is measured. */
class EventCounter implements Listener {
  tokens = 0;
  readonly #expected: number;
  #events = 0;
  #splitEnd = false;

  constructor(chunks: number) {
    this.#expected = chunks;
  }

  begin(): void {
    this.#events = 0;
    this.#splitEnd = false;
  }

  hear(bytes: Buffer, start: number, end: number): void {
    if (this.#splitEnd && bytes[start] === 0x0a) this.#events++;
    for (let at = bytes.indexOf("\n\n", start); at >= 0 && at + 1 < end; at = bytes.indexOf("\n\n", at + 2))
      this.#events++;
    this.#splitEnd = bytes[end - 1] === 0x0a && bytes[end - 2] !== 0x0a;
  }

  end(): string | null {
    // Beside the tokens: role, finish, the end, and usage where it is sent.
    const tokens = this.#events - 3;
    this.tokens += this.#expected;
    return tokens === this.#expected || tokens === this.#expected + 1 ? null : `${tokens} of ${this.#expected} tokens`;
  }
}

/** Reads every token's stamp. */
class StampReader implements Listener {
  tokens = 0;
  readonly #expected: number;
  readonly #gauges: Gauges;
  readonly #events = new Events();
  #sentAt = 0;
  #next = 0;
  #outOfOrder = false;

  constructor(chunks: number, gauges: Gauges) {
    this.#expected = chunks;
    this.#gauges = gauges;
  }

  begin(sentAt: number): void {
    this.#sentAt = sentAt;
    this.#next = 0;
    this.#outOfOrder = false;
    this.#events.begin();
  }

  hear(bytes: Buffer, start: number, end: number): void {
    const now = micros();
    for (const [, index, at] of this.#events.hear(bytes, start, end).matchAll(STAMP)) {
      if (Number(index) !== this.#next) this.#outOfOrder = true;
      if (this.#next === 0) this.#gauges.firstToken.add(now - this.#sentAt);
      this.#gauges.delay.add(now - Number(at));
      this.#next++;
      this.tokens++;
    }
  }

  end(): string | null {
    if (this.#outOfOrder) return "tokens out of order";
    return this.#events.complaint(this.#next === this.#expected, `${this.#next} of ${this.#expected} tokens`);
  }
}

/** Reads a recital, which must come whole and to the letter, and sees how long it stood still where it was cut. */
class RecitalReader implements Listener {
  tokens = 0;
  readonly #cutAt: number;
  readonly #gauges: Gauges;
  readonly #events = new Events();
  #text = "";
  #lastAt = 0;

  constructor(cap: number | null, gauges: Gauges) {
    this.#cutAt = cap === null ? 0 : recitedLength(cap);
    this.#gauges = gauges;
  }

  begin(): void {
    this.#text = "";
    this.#events.begin();
  }

  hear(bytes: Buffer, start: number, end: number): void {
    const now = micros();
    let added = "";
    for (const [, piece] of this.#events.hear(bytes, start, end).matchAll(/"content": ?"([^"]*)"/g)) added += piece;
    if (added === "") return;
    if (this.#text.length === this.#cutAt && this.#cutAt > 0) this.#gauges.seam.add(now - this.#lastAt);
    this.#text += added;
    this.#lastAt = now;
  }

  end(): string | null {
    this.tokens += RECITAL.length;
    return this.#events.complaint(
      this.#text === WHOLE,
      `${this.#text.length} of ${WHOLE.length} characters, or others`,
    );
  }
}

const WHOLE = RECITAL.join("");

/** Whole events, in whatever pieces they come. */
class Events {
  #carry = "";
  #finish = "none";

  begin(): void {
    this.#carry = "";
    this.#finish = "none";
  }

  /** The text of the events that are whole by now. */
  hear(bytes: Buffer, start: number, end: number): string {
    const text = this.#carry + bytes.toString("latin1", start, end);
    const whole = text.lastIndexOf("\n\n") + 2;
    if (whole < 2) {
      this.#carry = text;
      return "";
    }
    this.#carry = text.slice(whole);
    const events = text.slice(0, whole);
    this.#finish = /"finish_reason": ?"(\w+)"/.exec(events)?.[1] ?? this.#finish;
    return events;
  }

  complaint(whole: boolean, what: string): string | null {
    return whole && this.#finish === "stop" ? null : `${what}, finish ${this.#finish}`;
  }
}
