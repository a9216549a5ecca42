import { writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/**
 * Loaded into a contender: on SIGUSR2 it writes the longest time that the loop was held since the last one, in milliseconds, by the clock
 * or by the processor's time of all its threads, whichever is less. By the clock alone, what is measured is also who else had the processor.
 */
const file = process.env.LASTWORD_BENCH_PROBE;
const RESOLUTION_MS = 1;

if (isMainThread && file !== undefined) {
  let longest = 0;
  let at = performance.now();
  let used = process.cpuUsage();
  const look = () => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(used);
    longest = Math.max(longest, Math.min(now - at, (user + system) / 1000) - RESOLUTION_MS);
    at = now;
    used = process.cpuUsage();
  };
  setInterval(look, RESOLUTION_MS).unref();
  process.on("SIGUSR2", () => {
    look();
    writeFileSync(file, String(longest));
    longest = 0;
  });
}
