import type { Attempt, Outcome } from "../core/cut.ts";
import type { Event, Live } from "./event.ts";
import { shown } from "./names.ts";

/** A request that has ended, as the dashboard shows it. Never content. */
export interface Ended {
  readonly id: string;
  readonly model: string;
  readonly wire: string;
  readonly upstream: string;
  readonly stream: boolean;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  readonly ms: number;
  readonly outcome: Outcome;
  readonly cause: string | null;
  readonly code: string | null;
  readonly window: number | null;
  readonly promptTokens: number | null;
  /** `exact`, `estimate;bound=N` or `ceiling`; null: the prompt was not counted. */
  readonly countMethod: string | null;
  readonly completionTokens: number | null;
  readonly capSent: number | null;
  /** Completion tokens that had flowed at each cut. */
  readonly cuts: readonly number[];
  readonly attempts: readonly Attempt[];
}

/** How many requests ended how in one slice of time. */
export interface Slice {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
}

export interface Board {
  /** A request has begun; its exchange keeps `live` up to date until the bus tells of its end. */
  begin(live: Live): void;
  event(event: Event): void;
  snapshot(): Snapshot;
  /** Snapshots until the signal aborts: one at once, then one every `everyMs` in which something is live or has changed. */
  watch(everyMs: number, signal: AbortSignal): AsyncGenerator<Snapshot>;
}

/** A live request with the milliseconds since it came, in place of a time that only its own process can read. */
export interface Running extends Omit<Live, "startedAt"> {
  readonly ms: number;
}

export interface Snapshot {
  /** Grows with every request that ends, so that a reader knows whether `recent` is new. */
  readonly version: number;
  readonly live: readonly Running[];
  /** The last 200, newest first. */
  readonly recent: readonly Ended[];
  /** The last hour in slices of 10 s, oldest first; slices in which nothing ended are left out. */
  readonly series: readonly Slice[];
  /** Completion tokens of healed replies that did not have to be generated again. */
  readonly tokensSaved: number;
}

const RECENT = 200;
const SLICE_MS = 10_000;
const SERIES_MS = 3_600_000;

interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Settles after `ms`, or early when the signal aborts. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Live requests and what became of the last ones. Keeping it costs a map entry per request; nothing is made until somebody looks. */
export function createBoard(clock: Clock): Board {
  const live = new Map<string, Live>();
  const recent: Ended[] = [];
  const series: { readonly from: number; readonly outcomes: Partial<Record<Outcome, number>> }[] = [];
  let version = 0;
  let tokensSaved = 0;

  function end(event: Extract<Event, { readonly type: "finished" }>): void {
    const request = live.get(event.id);
    live.delete(event.id);
    version += 1;
    recent.push(ended(event, request, clock.now()));
    if (recent.length > RECENT) recent.shift();
    if (event.outcome === "healed") tokensSaved += kept(request?.attempts ?? []);
    count(event.outcome);
  }

  function count(outcome: Outcome): void {
    const from = Math.floor(clock.now() / SLICE_MS) * SLICE_MS;
    let slice = series.at(-1);
    if (slice?.from !== from) {
      slice = { from, outcomes: {} };
      series.push(slice);
    }
    slice.outcomes[outcome] = (slice.outcomes[outcome] ?? 0) + 1;
    while (series[0] !== undefined && series[0].from <= from - SERIES_MS) series.shift();
  }

  const snapshot = (): Snapshot => ({
    version,
    live: [...live.values()].map(running),
    recent: recent.toReversed(),
    series,
    tokensSaved,
  });

  async function* watch(everyMs: number, signal: AbortSignal): AsyncGenerator<Snapshot> {
    let seen = -1;
    while (!signal.aborted) {
      if (version !== seen || live.size > 0) {
        seen = version;
        yield snapshot();
      }
      await clock.wait(everyMs, signal);
    }
  }

  return {
    begin: (request) => void live.set(request.id, request),
    event: (event) => {
      if (event.type === "finished") end(event);
    },
    snapshot,
    watch,
  };
}

function running({ startedAt, ...request }: Live): Running {
  return { ...request, model: shown(request.model), ms: Math.round(performance.now() - startedAt) };
}

/** `request` is undefined where it ended before it could be registered. */
function ended(
  event: Extract<Event, { readonly type: "finished" }>,
  request: Live | undefined,
  endedAt: number,
): Ended {
  return {
    id: event.id,
    model: shown(event.model),
    wire: event.wire,
    upstream: event.upstream,
    stream: request?.stream ?? false,
    endedAt,
    ms: event.ms,
    outcome: event.outcome,
    cause: event.cause,
    code: event.code,
    window: request?.window ?? null,
    promptTokens: event.promptTokens ?? event.promptTokensEstimated,
    countMethod: event.countMethod,
    completionTokens: event.completionTokens,
    capSent: request?.capSent ?? null,
    cuts: request?.cuts ?? [],
    attempts: request?.attempts ?? [],
  };
}

/** Tokens of the passes that were gone on with, rather than thrown away. */
function kept(attempts: readonly Attempt[]): number {
  let tokens = 0;
  for (const { result, completion_tokens } of attempts) {
    if (result === "cut" || result === "broken") tokens += completion_tokens ?? 0;
  }
  return tokens;
}
