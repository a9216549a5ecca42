import { type Failure, failure, Refused } from "../core/error.ts";
import type { Over } from "../core/over.ts";
import type { Slots } from "../upstream/slots.ts";
import { deadlineFailure } from "./failures.ts";
import type { Job } from "./job.ts";

type Place = NonNullable<ReturnType<Slots["enter"]>>;

interface Limits {
  readonly maxInflight: number;
  readonly maxQueued: number;
}

/** Places that several replicas share. */
export interface Permits {
  /** A place at the upstream at `url`, of which all replicas together have `most`. @returns what gives it back */
  enter(url: string, most: number, signal: AbortSignal): Promise<() => void>;
}

/**
 * A place at the upstream; waits in line for one. @returns what gives it back
 * @throws Refused `overloaded` where the line is full, or the deadline comes first; the reason of `over` where that ends
 */
export function placeAt(
  limits: Limits,
  job: Job,
  over: Over,
  permits: Permits | null = null,
): (() => void) | Promise<() => void> {
  const { maxInflight, maxQueued } = limits;
  const place = job.server.slots.enter(maxInflight, maxQueued);
  if (place === null) throw new Refused(overloaded(job, maxInflight, maxQueued));
  const shared = maxInflight === 0 ? null : permits;
  return place.entered === null && shared === null ? place.leave : inLine(limits, job, over, place, shared);
}

async function inLine(
  { maxInflight }: Limits,
  job: Job,
  over: Over,
  place: Place,
  shared: Permits | null,
): Promise<() => void> {
  job.live.phase = "queued";
  const waiting = new AbortController();
  try {
    if (place.entered !== null) await turn(place.entered, job, over);
    if (shared === null) return place.leave;
    const giveBack = await turn(shared.enter(job.server.base.href, maxInflight, waiting.signal), job, over);
    return () => {
      giveBack();
      place.leave();
    };
  } catch (error) {
    waiting.abort();
    place.leave();
    throw error;
  }
}

/** Waits for one of three: the place, the deadline, or the request's being over. */
function turn<T>(entered: Promise<T>, job: Job, over: Over): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Refused(deadlineFailure(job)));
    const timer = setTimeout(late, Math.max(0, job.deadlineAt - performance.now()));
    void over
      .until(entered)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

function overloaded(job: Job, maxInflight: number, maxQueued: number): Failure {
  const why = `The upstream ${job.server.name} has ${maxInflight} requests under way and ${maxQueued} waiting.`;
  return { ...failure("overloaded", why, { max_inflight: maxInflight, max_queued: maxQueued }), retryAfter: 1 };
}
