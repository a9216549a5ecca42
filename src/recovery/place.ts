import { type Failure, failure, Refused } from "../core/error.ts";
import { deadlineFailure } from "./failures.ts";
import type { Job } from "./job.ts";

interface Limits {
  readonly maxInflight: number;
  readonly maxQueued: number;
}

/**
 * A place at the upstream; waits in line for one. @returns what gives it back
 * @throws Refused `overloaded` where the line is full, or the deadline comes first
 */
export async function placeAt(
  limits: Limits,
  job: Job,
  onLeave: (stop: (() => void) | null) => void,
): Promise<() => void> {
  const { maxInflight, maxQueued } = limits;
  const place = job.server.slots.enter(maxInflight, maxQueued);
  if (place === null) throw new Refused(overloaded(job, maxInflight, maxQueued));
  if (place.entered !== null) {
    job.live.phase = "queued";
    const late = await waited(place.entered, job.deadlineAt - performance.now(), onLeave);
    if (late) {
      place.leave();
      throw new Refused(deadlineFailure(job));
    }
  }
  return place.leave;
}

/** Waits for one of three: the place, the deadline (true), or the client's leaving. */
function waited(entered: Promise<void>, ms: number, onLeave: (stop: (() => void) | null) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), Math.max(0, ms));
    const done = () => {
      clearTimeout(timer);
      onLeave(null);
      resolve(false);
    };
    onLeave(done);
    void entered.then(done);
  });
}

function overloaded(job: Job, maxInflight: number, maxQueued: number): Failure {
  const why = `The upstream ${job.server.name} has ${maxInflight} requests under way and ${maxQueued} waiting.`;
  return { ...failure("overloaded", why, { max_inflight: maxInflight, max_queued: maxQueued }), retryAfter: 1 };
}
