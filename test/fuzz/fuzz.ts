import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { it } from "vitest";

/** Seconds for each target. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 4);
const SEEDS = fileURLToPath(new URL("seeds", import.meta.url));

/**
 * Looks for inputs under which `check` throws, for a bounded time. What was found once is kept in `seeds/NAME-*.json` and tried first ever
 * after; a new finding is written there.
 */
export function fuzz<T>(name: string, input: fc.Arbitrary<T>, check: (input: T) => void | Promise<void>): void {
  it(
    name,
    async () => {
      const property = fc.asyncProperty(input, async (value) => {
        await check(value);
      });
      const details = await fc.check(property, {
        examples: seedsOf<T>(name).map((seed): [T] => [seed]),
        numRuns: 1e9,
        interruptAfterTimeLimit: SECONDS * 1000,
        markInterruptAsFailure: false,
      });
      if (!details.failed || details.counterexample === null) return;
      keep(name, details.seed, details.counterexample[0]);
      throw details.errorInstance;
    },
    (SECONDS + 60) * 1000,
  );
}

function seedsOf<T>(name: string): T[] {
  mkdirSync(SEEDS, { recursive: true });
  return readdirSync(SEEDS)
    .filter((file) => file.startsWith(`${name}-`))
    .map((file) => JSON.parse(readFileSync(`${SEEDS}/${file}`, "utf8")) as T);
}

function keep(name: string, seed: number, value: unknown): void {
  writeFileSync(`${SEEDS}/${name}-${(seed >>> 0).toString(36)}.json`, `${JSON.stringify(value, null, 1)}\n`);
}
