import { type Failure, failure, Refused } from "../core/error.ts";
import { deadlineFailure } from "./failures.ts";
import type { Job } from "./job.ts";

interface Limits {
  readonly maxInflight: number;
  readonly maxQueued: number;
}

/**
 * A place at the upstream; waits in line for one. @returns what gives it back
 * @throws Refused `overloaded` where the line is full, or the deadline comes first; the signal's reason where that aborts
 */
export async function placeAt(limits: Limits, job: Job, over: AbortSignal): Promise<() => void> {
  const { maxInflight, maxQueued } = limits;
  const place = job.server.slots.enter(maxInflight, maxQueued);
  if (place === null) throw new Refused(overloaded(job, maxInflight, maxQueued));
  if (place.entered === null) return place.leave;
  job.live.phase = "queued";
  try {
    await turn(place.entered, job, over);
    return place.leave;
  } catch (error) {
    place.leave();
    throw error;
  }
}

/** Waits for one of three: the place, the deadline, or the request's being over. */
function turn(entered: Promise<void>, job: Job, over: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (how: () => void) => {
      clearTimeout(timer);
      over.removeEventListener("abort", end);
      how();
    };
    const end = () => settle(() => reject(over.reason));
    const late = () => settle(() => reject(new Refused(deadlineFailure(job))));
    const timer = setTimeout(late, Math.max(0, job.deadlineAt - performance.now()));
    over.addEventListener("abort", end);
    if (over.aborted) end();
    void entered.then(() => settle(resolve));
  });
}

function overloaded(job: Job, maxInflight: number, maxQueued: number): Failure {
  const why = `The upstream ${job.server.name} has ${maxInflight} requests under way and ${maxQueued} waiting.`;
  return { ...failure("overloaded", why, { max_inflight: maxInflight, max_queued: maxQueued }), retryAfter: 1 };
}
