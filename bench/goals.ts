import type { ContenderName } from "./contenders/contender.ts";
import { HOSTILE } from "./load/prompts.ts";
import type { Results } from "./results.ts";

/** What lastword promises, each as one number to be kept below (or above) a limit. */
export interface Goal {
  readonly says: string;
  readonly sense: "at most" | "at least";
  readonly limit: number;
  /** `x` for ratios. */
  readonly unit: string;
  /** null where it was not measured. */
  reached(results: Results): number | null;
}

export const GOALS: readonly Goal[] = [
  ratio("small JSON x64, CPU per request", "json-64", "CPU us/request", "nginx", 4.5),
  ratio("small JSON x64, CPU per request", "json-64", "CPU us/request", "hono", 0.33),
  ratio("small JSON x64, CPU per request", "json-64", "CPU us/request", "portkey", 0.1),
  {
    says: "small JSON x1, added p50, against nginx",
    sense: "at most",
    limit: 2.3,
    unit: "x",
    reached: (results) => divided(added(results, "json-1", "p50 us"), added(results, "json-1", "p50 us", "nginx")),
  },
  { ...ratio("burst, chunks per second", "burst", "k chunks/s", "hono", 1.6), sense: "at least" },
  { ...ratio("burst, chunks per second", "burst", "k chunks/s", "portkey", 7), sense: "at least" },
  ratio("64 paced streams, CPU per chunk", "paced-64", "CPU us/chunk", "nginx", 2.4),
  absolute("64 paced streams, added p50", 100, "us", (results) => added(results, "paced-64", "delay p50 us")),
  ratio("256 paced streams, first token p50", "paced-256", "first token p50 ms", "hono", 0.15),
  ratio("256 paced streams, first token p50", "paced-256", "first token p50 ms", "hono-long", 0.25),
  absolute("400 KB prompt seen before, added p50", 2.5, "ms", (results) => added(results, "prompt-seen", "p50 ms")),
  absolute("400 KB prompt unseen, added p50", 18, "ms", (results) => added(results, "prompt-unseen", "p50 ms")),
  absolute("400 KB prompts unseen, loop held", 5, "ms", (results) => own(results, "prompt-loop", "loop held ms")),
  ratio("paced streams beside 400 KB prompts, chunk p99", "mixed", "delay p99 ms", "hono", 1.5),
  absolute("100,000 hostile characters, added, worst kind", 150, "ms", (results) =>
    worst((kind) => added(results, "hostile", `${kind} ms`)),
  ),
  absolute("100,000 hostile characters, loop held, worst kind", 5, "ms", (results) =>
    worst((kind) => own(results, "hostile", `${kind}, loop ms`)),
  ),
  ratio("memory, idle", "memory", "idle MB", "hono", 2),
  ratio("memory, each open stream", "memory", "kB/stream", "hono", 0.6),
  absolute("memory, growth by different 400 KB prompts", 40, "MB", (results) =>
    own(results, "memory-prompts", "growth MB"),
  ),
  absolute("seam gap, resuming server", 2, "ms", (results) => inMs(own(results, "seam-resumed", "gap p50 us"))),
  absolute("seam gap, nudged server", 2, "ms", (results) => inMs(own(results, "seam-nudged", "gap p50 us"))),
  absolute("two processes, CPU per request, against one", 1.15, "x", (results) =>
    divided(own(results, "workers", "two, us/request"), own(results, "workers", "one, us/request")),
  ),
  absolute("start-up", 300, "ms", (results) => own(results, "startup", "ms")),
];

export function isReached({ sense, limit }: Goal, value: number): boolean {
  return sense === "at most" ? value <= limit : value >= limit;
}

function ratio(says: string, caseName: string, metric: string, against: ContenderName, limit: number): Goal {
  return {
    says: `${says}, against ${against}`,
    sense: "at most",
    limit,
    unit: "x",
    reached: (results) => divided(own(results, caseName, metric), results.median(caseName, against, metric)),
  };
}

function absolute(says: string, limit: number, unit: string, reached: Goal["reached"]): Goal {
  return { says, sense: "at most", limit, unit, reached };
}

const own = (results: Results, caseName: string, metric: string) => results.median(caseName, "lastword", metric);

/** A contender's figure less that of no contender at all. */
function added(
  results: Results,
  caseName: string,
  metric: string,
  contender: ContenderName = "lastword",
): number | null {
  const [with_, without] = [results.median(caseName, contender, metric), results.median(caseName, "direct", metric)];
  return with_ === null || without === null ? null : with_ - without;
}

function divided(value: number | null, by: number | null): number | null {
  return value === null || by === null || by === 0 ? null : value / by;
}

function worst(of: (kind: string) => number | null): number | null {
  const values = Object.keys(HOSTILE).flatMap((kind) => of(kind) ?? []);
  return values.length === 0 ? null : Math.max(...values);
}

const inMs = (microseconds: number | null) => (microseconds === null ? null : microseconds / 1000);
