import cluster, { type Worker } from "node:cluster";
import { EXIT } from "../cli/commands.ts";
import type { Log } from "../events/log.ts";
import { mergedTallies } from "./merge.ts";
import { isMessage, type Message, type Question } from "./peers.ts";

/** A worker that is busy with a large prompt answers late; a scrape must not wait for one that hangs. */
const ANSWER_MS = 2_000;
/** A worker that died is replaced, but not in a loop that does nothing else. */
const REPLACE_MS = 1_000;

export interface PrimaryOptions {
  readonly workers: number;
  readonly log: Log;
  /** Called once, when all workers accept connections. */
  readonly listening: (url: string) => void;
}

/**
 * The first process of several: it starts the workers, hands them connections in turn, and carries questions between them.
 * It serves no request itself. @returns the exit code, when all workers have ended
 */
export async function runPrimary({ workers, log, listening }: PrimaryOptions): Promise<number> {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const asked = new Map<number, { readonly parts: unknown[]; missing: number; readonly done: () => void }>();
  const tallies: unknown[] = [];
  const ready = new Set<number>();
  let ids = 0;
  let told = false;
  let stopping = false;
  let failed = false;

  const live = () => Object.values(cluster.workers ?? {}).filter((worker): worker is Worker => worker !== undefined);
  const tell = (worker: Worker, message: Message) => worker.isConnected() && worker.send(message);

  function gather(question: Question, done: (parts: unknown[]) => void): void {
    const id = ++ids;
    const all = live();
    const parts: unknown[] = [];
    const end = () => {
      clearTimeout(late);
      asked.delete(id);
      done(parts);
    };
    const late = setTimeout(end, ANSWER_MS);
    asked.set(id, { parts, missing: all.length, done: end });
    for (const worker of all) tell(worker, { lastword: "ask", id, question });
  }

  function hear(worker: Worker, message: unknown): void {
    if (!isMessage(message)) return;
    if (message.lastword === "gather") {
      const { id, question } = message;
      gather(question, (parts) => tell(worker, { lastword: "gathered", id, parts }));
    } else if (message.lastword === "answer") {
      const question = asked.get(message.id);
      if (question === undefined) return;
      question.parts.push(message.part);
      question.missing -= 1;
      if (question.missing === 0) question.done();
    } else if (message.lastword === "tallies") tallies.push(message.tallies);
  }

  function stop(): void {
    stopping = true;
    for (const worker of live()) worker.process.kill("SIGTERM");
  }

  cluster.on("message", hear);
  cluster.on("listening", (worker, { address, port }) => {
    ready.add(worker.id);
    if (told || ready.size < workers) return;
    told = true;
    const host = address ?? "127.0.0.1";
    listening(`http://${host.includes(":") ? `[${host}]` : host}:${port}`);
  });
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, stop);
  process.on("SIGHUP", () => {
    for (const worker of live()) worker.process.kill("SIGHUP");
  });

  for (let i = 0; i < workers; i++) cluster.fork();
  await new Promise<void>((resolve) => {
    cluster.on("exit", (worker, code) => {
      ready.delete(worker.id);
      // One that cannot start says why on stderr; the others could not either.
      if (!told && !stopping) {
        failed = true;
        stop();
      } else if (!stopping) {
        log.say("error", "a worker ended and is replaced", { code });
        setTimeout(() => {
          if (!stopping) cluster.fork();
        }, REPLACE_MS);
      }
      if (stopping && live().length === 0) resolve();
    });
  });
  log.tally(mergedTallies(tallies));
  await log.close();
  return failed ? EXIT.problem : EXIT.ok;
}
