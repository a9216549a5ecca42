import { setTimeout as sleep } from "node:timers/promises";
import { micros } from "../clock.ts";
import { Caller, type Score } from "./caller.ts";
import type { Group, Job, Report, Tally } from "./job.ts";
import { listenerFor } from "./listener.ts";
import { requestsOf } from "./request.ts";
import { Times } from "./spread.ts";

/** The load generator, in a process of its own: does one job after the other, and tells what it saw to whoever forked it. */
process.on("message", (job: Job) => {
  perform(job).then(
    (tallies) => process.send?.({ tallies } satisfies Report),
    (error: unknown) => process.send?.({ broken: String(error) } satisfies Report),
  );
});
process.on("disconnect", () => process.exit(0));

async function perform(job: Job): Promise<Record<string, Tally>> {
  const crews = job.groups.map((group) => new Crew(job, group));
  await Promise.all(crews.map((crew) => crew.open()));
  const timer = setTimeout(() => {
    for (const crew of crews) crew.stop();
  }, job.limitSeconds * 1000);
  const [leading, following] = [crews.filter((crew) => !crew.follows), crews.filter((crew) => crew.follows)];
  const followed = following.map((crew) => crew.run());
  await Promise.all(leading.map((crew) => crew.run()));
  for (const crew of following) crew.release();
  await Promise.all(followed);
  clearTimeout(timer);
  return Object.fromEntries(crews.map((crew) => [crew.name, crew.tally()]));
}

/** The callers of one group, and what they saw. */
class Crew implements Score {
  readonly name: string;
  readonly follows: boolean;
  readonly #group: Group;
  readonly #callers: Caller[];
  readonly #listeners;
  readonly #latency = new Times();
  readonly #gauges = { firstToken: new Times(), delay: new Times(), seam: new Times() };
  #startedAt = 0;
  #endsAt = Number.POSITIVE_INFINITY;
  #endedAt = 0;
  #left = Number.POSITIVE_INFINITY;
  #working = 0;
  #answers = 0;
  #failures = 0;
  #refusals = 0;
  #complaint = "";
  #finished: () => void = () => {};

  constructor(job: Job, group: Group) {
    this.name = group.name;
    this.follows = group.until === "the others";
    this.#group = group;
    const next = requestsOf(job, group);
    this.#listeners = Array.from({ length: group.connections }, () => listenerFor(group, this.#gauges));
    this.#callers = this.#listeners.map((listener) => new Caller(job.port, next, listener, this));
  }

  async open(): Promise<void> {
    await Promise.all(this.#callers.map((caller) => caller.open()));
  }

  async run(): Promise<void> {
    const { until, spreadMs } = this.#group;
    this.#startedAt = micros();
    if (until !== "the others") {
      if ("seconds" in until) this.#endsAt = this.#startedAt + until.seconds * 1e6;
      else this.#left = until.requests;
    }
    this.#working = this.#callers.length;
    const finished = new Promise<void>((resolve) => {
      this.#finished = resolve;
    });
    const pause = spreadMs / this.#callers.length;
    for (const [index, caller] of this.#callers.entries()) {
      // Timers are too coarse to wait for each of many starts.
      const ahead = this.#startedAt + index * pause * 1000 - micros();
      if (ahead >= 1000) await sleep(ahead / 1000);
      caller.send();
    }
    await finished;
    this.#endedAt = micros();
  }

  /** Lets the requests under way end, and sends no more. */
  release(): void {
    this.#left = 0;
  }

  stop(): void {
    for (const caller of this.#callers) caller.stop();
  }

  more(): boolean {
    if (this.#left <= 0 || micros() >= this.#endsAt) return false;
    this.#left--;
    return true;
  }

  answered(microseconds: number): void {
    this.#answers++;
    this.#latency.add(microseconds);
  }

  refused(microseconds: number): void {
    this.#refusals++;
    this.#latency.add(microseconds);
  }

  failed(complaint: string): void {
    this.#failures++;
    if (this.#complaint === "") this.#complaint = complaint;
    // A contender that fails at once must not make this a busy loop.
    if (this.#failures > 1000) this.#left = 0;
  }

  done(): void {
    this.#working--;
    if (this.#working === 0) this.#finished();
  }

  tally(): Tally {
    return {
      answers: this.#answers,
      failures: this.#failures,
      refusals: this.#refusals,
      complaint: this.#complaint,
      seconds: (this.#endedAt - this.#startedAt) / 1e6,
      chunks: this.#listeners.reduce((sum, listener) => sum + listener.tokens, 0),
      latency: this.#latency.spread(),
      firstToken: this.#gauges.firstToken.spread(),
      delay: this.#gauges.delay.spread(),
      seam: this.#gauges.seam.spread(),
    };
  }
}
