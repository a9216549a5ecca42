import { readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { type Encoding, loadEncoding } from "./encoding.ts";
import { MEASURE_LENGTH, type MeasureText } from "./measure.ts";

/** The tokenizer worker: takes `Job`s, answers each, in order, with the measures of its texts one behind the other. */
export interface Job {
  readonly encoding: Encoding;
  /** Path of the encoding's vocabulary; read with the first job. */
  readonly file: string;
  readonly texts: readonly string[];
}

// On one core this thread would take turns with the event loop, of some milliseconds each. Linux has a priority for each thread; elsewhere
// this would be the whole process's.
if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const loaded = new Map<Encoding, MeasureText>();

parentPort?.on("message", ({ encoding, file, texts }: Job) => {
  const measure = loaded.get(encoding) ?? loadEncoding(encoding, readFileSync(file));
  loaded.set(encoding, measure);
  const measures = new Uint32Array(texts.length * MEASURE_LENGTH);
  texts.forEach((text, i) => {
    measure(text, measures.subarray(i * MEASURE_LENGTH, (i + 1) * MEASURE_LENGTH));
  });
  parentPort?.postMessage(measures, [measures.buffer]);
});
