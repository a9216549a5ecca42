import { fileURLToPath } from "node:url";
import { type ResourceLimits, Worker } from "node:worker_threads";

/**
 * The worker threads by name, each with its source below `src/`.
 * The build makes `dist/NAME-worker.js` of each: a new row here needs its entry in package.json's build script too.
 */
export const WORKERS = { schema: "schema/worker.ts", tokenizer: "budget/tokenizer/worker.ts" } as const;
export type WorkerName = keyof typeof WORKERS;

/**
 * Starts a worker thread for work that must not stop the event loop. It sees no environment variables (keys live there),
 * and does not keep the process alive; the caller listens for its messages and its end.
 */
export async function spawn(name: WorkerName, resourceLimits: ResourceLimits = {}): Promise<Worker> {
  const options = { env: {}, execArgv: [], resourceLimits, name: `lastword ${name}` };
  // Node runs no TypeScript, so from source (tests, benches) the worker is bundled in memory first.
  const worker = import.meta.url.endsWith(".ts")
    ? new Worker(await bundled(name), { ...options, eval: true })
    : new Worker(new URL(`./${name}-worker.js`, import.meta.url), options);
  worker.unref();
  return worker;
}

const bundles = new Map<WorkerName, Promise<string>>();

function bundled(name: WorkerName): Promise<string> {
  const bundle = bundles.get(name) ?? bundleFromSource(name);
  bundles.set(name, bundle);
  return bundle;
}

/** The worker and all that it imports as one CommonJS text: that is what a Worker evaluates. */
async function bundleFromSource(name: WorkerName): Promise<string> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../${WORKERS[name]}`, import.meta.url))],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    logLevel: "error",
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`no bundle of the ${name} worker`);
  return file.text;
}
