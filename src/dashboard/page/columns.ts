import { OUTCOMES, type Outcome } from "../../core/cut.ts";
import type { Slice } from "../../events/live.ts";

/** One column of the chart: how many requests ended how in its time. */
export interface Column {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly sum: number;
}

/** How far back the chart looks, and in what steps; each in 60 columns. Milliseconds. */
export const RANGES = {
  minutes: { step: 10_000, label: "10 minutes", per: "in 10 s" },
  hour: { step: 60_000, label: "1 hour", per: "a minute" },
} as const;
export type Range = keyof typeof RANGES;

const COLUMNS = 60;

/** The columns up to `now` (milliseconds since the epoch, by the proxy's clock), oldest first. */
export function columns(slices: Iterable<Slice>, now: number, range: Range): Column[] {
  const { step } = RANGES[range];
  const newest = Math.floor(now / step) * step;
  const oldest = newest - (COLUMNS - 1) * step;
  const counts = Array.from({ length: COLUMNS }, () => none());
  for (const { from, outcomes } of slices) {
    const column = counts[Math.floor((from - oldest) / step)];
    if (column !== undefined) add(column, outcomes);
  }
  return counts.map((outcomes, at) => ({ from: oldest + at * step, outcomes, sum: sumOf(outcomes) }));
}

/** Of all columns together. */
export function totals(all: readonly Column[]): Record<Outcome, number> {
  const sum = none();
  for (const { outcomes } of all) add(sum, outcomes);
  return sum;
}

/** The next number up that reads well as the top of a scale. */
export function scaleTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  const step = [1, 2, 4, 5, 10].find((factor) => factor * power >= most) ?? 10;
  return Math.max(4, step * power);
}

export function sumOf(outcomes: Readonly<Record<Outcome, number>>): number {
  return OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0);
}

function none(): Record<Outcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
}

function add(to: Record<Outcome, number>, more: Slice["outcomes"]): void {
  for (const outcome of OUTCOMES) to[outcome] += more[outcome] ?? 0;
}
