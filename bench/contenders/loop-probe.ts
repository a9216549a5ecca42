import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** Loaded into a contender: on SIGUSR2 it writes the longest time that the loop was held since the last one, in milliseconds. */
const file = process.env.LASTWORD_BENCH_PROBE;
const RESOLUTION_MS = 1;

if (isMainThread && file !== undefined) {
  const held = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  held.enable();
  process.on("SIGUSR2", () => {
    // What is recorded is the time between two ticks of a timer.
    writeFileSync(file, String(Math.max(0, held.max / 1e6 - RESOLUTION_MS)));
    held.reset();
  });
}
