import { parentPort } from "node:worker_threads";
import { check } from "./check.ts";

/** The schema worker: takes `Job`s, answers each with a `Validity`, in order. Its first message says that it is ready. */
export interface Job {
  readonly schema: string;
  readonly text: string;
}

parentPort?.on("message", ({ schema, text }: Job) => parentPort?.postMessage(check(schema, text)));
// The metaschemas are compiled with their first use: before the clock of the first job runs.
check('{"$schema":"https://json-schema.org/draft/2020-12/schema"}', "{}");
check('{"$schema":"http://json-schema.org/draft-07/schema#"}', "{}");
parentPort?.postMessage("ready");
