import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { spawn } from "../../workers/spawn.ts";
import type { Backend } from "../tokenizers.ts";
import { ENCODINGS, type Encoding } from "./encoding.ts";
import type { Job } from "./worker.ts";

/** Megabytes. The vocabularies are outside the heap; texts come and go. */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 };

interface Waiting {
  readonly resolve: (measures: Uint32Array) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The tokenizer's thread. It starts with the first text, reads each vocabulary once (about 50 ms), and keeps some 10 MB.
 * A thread that ends fails what it had not answered; the next text starts another.
 */
export class TokenizerThread {
  #starting: Promise<Worker> | null = null;
  readonly #waiting: Waiting[] = [];

  readonly measure: Backend = async (encoding, texts) => {
    const worker = await this.#start();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      // A command that only counts must not end before it has its answer.
      worker.ref();
      worker.postMessage({ encoding, file: fileOf(encoding), texts } satisfies Job);
    });
  };

  /** Starts the thread and reads the vocabulary, so that the first request does not wait for it. */
  async warm(encoding: Encoding): Promise<void> {
    await this.measure(encoding, ["warm"]);
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    const worker = await this.#starting?.catch(() => null);
    await worker?.terminate();
  }

  #start(): Promise<Worker> {
    this.#starting ??= this.#spawn().catch((error: unknown) => {
      this.#starting = null;
      throw error;
    });
    return this.#starting;
  }

  async #spawn(): Promise<Worker> {
    const worker = await spawn("tokenizer", MEMORY);
    worker.on("message", (measures: Uint32Array) => {
      this.#waiting.shift()?.resolve(measures);
      if (this.#waiting.length === 0) worker.unref();
    });
    let reason = new Error("the tokenizer's thread has ended");
    worker.on("error", (error) => {
      reason = error;
    });
    worker.once("exit", () => {
      this.#starting = null;
      for (const { reject } of this.#waiting.splice(0)) reject(reason);
    });
    return worker;
  }
}

/** The build lays the vocabularies beside the bundle; from source they are where the package has them. */
function fileOf(encoding: Encoding): string {
  const { file } = ENCODINGS[encoding];
  return import.meta.url.endsWith(".ts")
    ? createRequire(import.meta.url).resolve(`gpt-tokenizer/data/${file}`)
    : fileURLToPath(new URL(`./${file}`, import.meta.url));
}
