import { CAUSES, type Cause, OUTCOMES, type Outcome } from "../core/cut.ts";
import type { Event } from "./event.ts";
import type { ModelLabel } from "./names.ts";

/** How the requests for one model ended. The outcomes add up to `requests`. */
export interface Tally {
  readonly model: string;
  readonly requests: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Of those that did not simply end whole, why. */
  readonly causes: Readonly<Record<Cause, number>>;
  /** Of `outcomes.cut_off`, those left as they were by order. */
  readonly cutAsAsked: number;
}

export interface Tallies {
  event(event: Event): void;
  /** One per model, in the order in which they first finished. */
  list(): Tally[];
}

export function createTallies(label: ModelLabel): Tallies {
  const counts = new Map<string, Counts>();
  return {
    event(event) {
      if (event.type !== "finished") return;
      const model = label(event.model);
      let count = counts.get(model);
      if (count === undefined) {
        count = { requests: 0, outcomes: zero(OUTCOMES), causes: zero(CAUSES), cutAsAsked: 0 };
        counts.set(model, count);
      }
      count.requests += 1;
      count.outcomes[event.outcome] += 1;
      if (event.cause !== null) count.causes[event.cause] += 1;
      if (event.outcome === "cut_off" && event.cause === "honoured_cap") count.cutAsAsked += 1;
    },
    list: () => [...counts].map(([model, count]) => ({ model, ...structuredClone(count) })),
  };
}

/** One line per model, nothing for none. The four named first add up to N; those cut as asked are among those cut off. */
export function reportLines(tallies: readonly Tally[]): string[] {
  return tallies.map(({ model, outcomes: { complete, healed, cut_off, malformed, ...others }, cutAsAsked }) => {
    const whole = complete + healed + cut_off + malformed;
    const line = `reply outcome: ${model}: ${complete} complete, ${healed} healed, ${cut_off} cut off at the cap, ${malformed} complete but malformed, of ${whole}`;
    const rest = [
      [cutAsAsked, "cut as asked"],
      [others.rejected, "rejected"],
      [others.failed, "failed"],
      [others.canceled, "canceled"],
    ].filter(([count]) => count !== 0);
    return rest.length === 0 ? line : `${line} (${rest.map((part) => part.join(" ")).join(", ")})`;
  });
}

interface Counts {
  requests: number;
  outcomes: Record<Outcome, number>;
  causes: Record<Cause, number>;
  cutAsAsked: number;
}

function zero<K extends string>(names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
}
