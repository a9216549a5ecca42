import { micros } from "../clock.ts";
import { SCENARIOS, STAMP } from "../scenarios.ts";
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
  return everyMs === 0 && !continues ? new EventCounter(chunks) : new StampReader(chunks, gauges);
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
  #sentAt = 0;
  #lastAt = 0;
  #next = 0;
  #outOfOrder = false;
  #finish = "";
  #carry = "";

  constructor(chunks: number, gauges: Gauges) {
    this.#expected = chunks;
    this.#gauges = gauges;
  }

  begin(sentAt: number): void {
    this.#sentAt = sentAt;
    this.#next = 0;
    this.#outOfOrder = false;
    this.#finish = "";
    this.#carry = "";
  }

  hear(bytes: Buffer, start: number, end: number): void {
    const now = micros();
    const text = this.#carry + bytes.toString("latin1", start, end);
    const whole = text.lastIndexOf("\n\n") + 2;
    if (whole < 2) {
      this.#carry = text;
      return;
    }
    this.#carry = text.slice(whole);
    const events = text.slice(0, whole);
    for (const [, index, at, held] of events.matchAll(STAMP)) this.#token(Number(index), Number(at), Number(held), now);
    this.#finish = /"finish_reason": ?"(\w+)"/.exec(events)?.[1] ?? this.#finish;
  }

  #token(index: number, at: number, held: number, now: number): void {
    if (index !== this.#next) this.#outOfOrder = true;
    if (index === 0) this.#gauges.firstToken.add(now - this.#sentAt);
    if (index > 0 && held > 0) this.#gauges.seam.add(now - this.#lastAt - held);
    this.#gauges.delay.add(now - at);
    this.#lastAt = now;
    this.#next = index + 1;
    this.tokens++;
  }

  end(): string | null {
    if (this.#outOfOrder) return "tokens out of order";
    if (this.#next < this.#expected) return `${this.#next} of ${this.#expected} tokens, finish "${this.#finish}"`;
    return this.#finish === "stop" ? null : `finish "${this.#finish}"`;
  }
}
