import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { forkPinned } from "./child.ts";
import type { ContenderName, Running } from "./contenders/contender.ts";
import { START } from "./contenders/index.ts";
import { startLastword } from "./contenders/lastword.ts";
import type { Group, Job, Report, Spread, Tally } from "./load/job.ts";
import { cpuMicros } from "./machine.ts";

/** The harness around one run: fake server, load generator, and a folder for what contenders need. */
export class Harness {
  readonly folder: string;
  readonly upstreamPort: number;
  readonly #upstream: ChildProcess;
  #load: ChildProcess;

  private constructor(folder: string, upstream: ChildProcess, upstreamPort: number) {
    this.folder = folder;
    this.#upstream = upstream;
    this.upstreamPort = upstreamPort;
    this.#load = forkPinned("harness", "load/main");
  }

  static async start(folder: string): Promise<Harness> {
    const upstream = forkPinned("harness", "upstream/main");
    const [{ port }] = (await once(upstream, "message")) as [{ port: number }];
    return new Harness(folder, upstream, port);
  }

  /** @throws Error where the load generator does not answer in time; another one takes its place */
  async perform(job: Job): Promise<Readonly<Record<string, Tally>>> {
    const load = this.#load;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), (job.limitSeconds + 10) * 1000);
    try {
      load.send(job);
      const [report] = (await once(load, "message", { signal: limit.signal })) as [Report];
      if ("broken" in report) throw new Error(report.broken);
      return report.tallies;
    } catch (error) {
      load.kill("SIGKILL");
      this.#load = forkPinned("harness", "load/main");
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** How long the server had continuations before it answered them, since the last call. */
  async heldByServer(): Promise<Spread> {
    this.#upstream.send("held");
    const [spread] = (await once(this.#upstream, "message")) as [Spread];
    return spread;
  }

  close(): void {
    for (const child of [this.#load, this.#upstream]) if (child.connected) child.disconnect();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface Driven {
  readonly tallies: Readonly<Record<string, Tally>>;
  /** CPU time of the contender, in microseconds; null where the machine does not tell, or nothing stands between. */
  readonly cpu: number | null;
}

/** Seconds after which a job is broken off. */
const LIMIT_SECONDS = 40;

/** One contender on the harness: what cases act through. */
export class Stage {
  readonly contender: ContenderName;
  readonly running: Running;
  readonly quick: boolean;
  readonly #harness: Harness;
  /** When it was used last, in milliseconds of `performance.now()`. */
  usedAt = 0;

  constructor(harness: Harness, contender: ContenderName, running: Running, quick: boolean) {
    this.#harness = harness;
    this.contender = contender;
    this.running = running;
    this.quick = quick;
  }

  async drive(groups: readonly Group[], limitSeconds = LIMIT_SECONDS): Promise<Driven> {
    const { port, headers, process } = this.running;
    const before = process === null ? null : cpuMicros(process.pid);
    const tallies = await this.#harness.perform({ port, headers, groups, limitSeconds });
    const after = process === null ? null : cpuMicros(process.pid);
    this.usedAt = performance.now();
    return { tallies, cpu: before === null || after === null ? null : after - before };
  }

  /** As `drive` with one group; @throws Error where answers failed */
  async group(group: Group, limitSeconds = LIMIT_SECONDS): Promise<Tally & { readonly cpu: number | null }> {
    const { tallies, cpu } = await this.drive([group], limitSeconds);
    const tally = tallies[group.name];
    if (tally === undefined) throw new Error("no tally");
    const { process } = this.running;
    if (process !== null && process.child.exitCode !== null) throw new Error(`it ended: ${process.complaints()}`);
    return { ...whole(tally), cpu };
  }

  heldByServer(): Promise<Spread> {
    return this.#harness.heldByServer();
  }

  /** Another process of the same contender, for what must be measured from its start. */
  async withFresh<T>(work: (stage: Stage) => Promise<T>): Promise<T> {
    const running = await START[this.contender](this.#harness.upstreamPort, this.#harness.folder);
    try {
      return await work(new Stage(this.#harness, this.contender, running, this.quick));
    } finally {
      await running.process?.stop();
    }
  }

  /** Another lastword, of several processes. */
  async withWorkers<T>(workers: number, work: (stage: Stage) => Promise<T>): Promise<T> {
    const running = await startLastword(this.#harness.upstreamPort, this.#harness.folder, { workers });
    try {
      return await work(new Stage(this.#harness, this.contender, running, this.quick));
    } finally {
      await running.process?.stop();
    }
  }

  /** Another lastword that tells how long its loop was held. @returns the work's result and the longest hold, in milliseconds */
  async withProbe<T>(work: (stage: Stage, held: () => Promise<number>) => Promise<T>): Promise<T> {
    const file = join(this.#harness.folder, "held");
    const running = await startLastword(this.#harness.upstreamPort, this.#harness.folder, { probe: { file } });
    const held = async () => {
      rmSync(file, { force: true });
      running.process?.child.kill("SIGUSR2");
      for (let tries = 0; tries < 100 && !existsSync(file); tries++) await sleep(20);
      return Number(readFileSync(file, "utf8"));
    };
    try {
      return await work(new Stage(this.#harness, this.contender, running, this.quick), held);
    } finally {
      await running.process?.stop();
    }
  }
}

/** @throws Error where any answer failed: figures of failures are not figures */
export function whole(tally: Tally): Tally {
  const { answers, refusals, failures, complaint } = tally;
  if (refusals > 0) throw new Error(`${refusals} of ${answers + refusals + failures} were refused`);
  if (failures > 0) throw new Error(`${failures} of ${answers + failures} failed: ${complaint}`);
  return tally;
}
