import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import type { Validity } from "../core/proof.ts";
import { spawn } from "../workers/spawn.ts";
import { schemaText } from "./bounds.ts";
import type { Job } from "./worker.ts";

export interface ValidatorOptions {
  /** Milliseconds that one validation may run before the thread is ended. @default 250 */
  readonly limitMs?: number;
  /** Milliseconds that one may wait behind others before it is given up. @default 2000 */
  readonly patienceMs?: number;
}

/** Characters; a longer text is not validated. */
const MAX_TEXT = 8 * 1024 * 1024;
/** Megabytes that a hostile schema may fill before the thread is ended. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
/** Milliseconds for the thread to load; more means that it never will. */
const BOOT_MS = 10_000;

interface Waiting extends Job {
  readonly since: number;
  readonly settle: (validity: Validity) => void;
}

/**
 * Checks JSON texts against the schemas of clients, one at a time, in a thread of its own, so that a hostile schema stops nothing but
 * itself. The thread starts with the first validation and is ended when one takes too long. Never throws: what cannot be known is `unknown`.
 */
export class Validator {
  readonly #limitMs: number;
  readonly #patienceMs: number;
  readonly #queue: Waiting[] = [];
  #serving = false;
  #worker: Worker | null = null;

  constructor({ limitMs = 250, patienceMs = 2_000 }: ValidatorOptions = {}) {
    this.#limitMs = limitMs;
    this.#patienceMs = patienceMs;
  }

  /** @param schema a JSON schema as the client sent it, draft-07 or 2020-12; `format` is not checked */
  readonly validate = (schema: unknown, text: string): Promise<Validity> => {
    const bounded = schemaText(schema ?? true);
    if (bounded === null || text.length > MAX_TEXT) return Promise.resolve("unknown");
    return new Promise((settle) => {
      this.#queue.push({ schema: bounded, text, since: performance.now(), settle });
      if (!this.#serving) void this.#serve();
    });
  };

  /** Ends the thread. A later validation starts a new one. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      const late = performance.now() - job.since > this.#patienceMs;
      job.settle(late ? "unknown" : await this.#run(job));
    }
    this.#serving = false;
  }

  async #run({ schema, text }: Job): Promise<Validity> {
    try {
      this.#worker ??= await this.#boot();
      const answer = messageOf(this.#worker, this.#limitMs);
      this.#worker.postMessage({ schema, text } satisfies Job);
      return (await answer) as Validity;
    } catch {
      await this.close();
      return "unknown";
    }
  }

  async #boot(): Promise<Worker> {
    const worker = await spawn("schema", MEMORY);
    // Out of memory is told as an error event, which nobody else may be listening for.
    worker.on("error", () => {});
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = null;
    });
    await messageOf(worker, BOOT_MS);
    return worker;
  }
}

/** The next message. @throws where none comes in time, or the thread ends first */
async function messageOf(worker: Worker, withinMs: number): Promise<unknown> {
  const enough = new AbortController();
  // On a busy loop the limit may fire first although the answer is there: what has arrived is read before it counts.
  const timer = setTimeout(() => setImmediate(() => enough.abort()), withinMs);
  const ended = () => enough.abort();
  worker.once("exit", ended);
  try {
    const [message] = await once(worker, "message", { signal: enough.signal });
    return message;
  } finally {
    clearTimeout(timer);
    worker.off("exit", ended);
  }
}
