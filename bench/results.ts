import type { Figures } from "./cases/case.ts";
import type { ContenderName } from "./contenders/contender.ts";

/** Figures of all rounds, by case and contender, and what went wrong. */
export class Results {
  readonly #rounds = new Map<string, Figures[]>();
  readonly problems: string[] = [];

  add(caseName: string, contender: ContenderName, figures: Figures): void {
    const key = `${caseName} ${contender}`;
    this.#rounds.set(key, [...(this.#rounds.get(key) ?? []), figures]);
  }

  /** The median over the rounds; null where nothing was measured. */
  median(caseName: string, contender: ContenderName, metric: string): number | null {
    const values = (this.#rounds.get(`${caseName} ${contender}`) ?? []).flatMap((figures) => figures[metric] ?? []);
    values.sort((a, b) => a - b);
    const middle = Math.floor(values.length / 2);
    const [low, high] = [values[Math.ceil(values.length / 2) - 1], values[middle]];
    return low === undefined || high === undefined ? null : (low + high) / 2;
  }

  /** Metrics of a case, in the order in which they came. */
  metrics(caseName: string): string[] {
    const names = [...this.#rounds].filter(([key]) => key.startsWith(`${caseName} `)).flatMap(([, all]) => all);
    return [...new Set(names.flatMap((figures) => Object.keys(figures)))];
  }

  /** All figures, for machines: rounds as they were measured. */
  toJSON(): Record<string, Record<string, Figures[]>> {
    const tree: Record<string, Record<string, Figures[]>> = {};
    for (const [key, rounds] of this.#rounds) {
      const [caseName = "", contender = ""] = key.split(" ");
      tree[caseName] = { ...tree[caseName], [contender]: rounds };
    }
    return tree;
  }
}
