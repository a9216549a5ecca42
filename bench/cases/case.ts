import type { ContenderName } from "../contenders/contender.ts";
import type { Group } from "../load/job.ts";
import type { Stage } from "../stage.ts";

/** What one contender showed in one round, by metric. The unit is in the metric's name. */
export type Figures = Readonly<Record<string, number>>;

export interface Case {
  readonly name: string;
  readonly says: string;
  /** Who takes part; the others cannot, or tell nothing by it. @default all but hono-long */
  readonly only?: readonly ContenderName[];
  /** @default as the run has it */
  readonly rounds?: number;
  /** Left out of quick runs, unless it is named. @default false */
  readonly long?: boolean;
  /** Least pause since a contender's last use, in seconds. @default 0 */
  readonly idleSeconds?: number;
  run(stage: Stage): Promise<Figures>;
}

/** A small plain request on one connection, for cases to vary. */
export const PLAIN: Group = {
  name: "load",
  model: "plain",
  stream: false,
  cap: 256,
  prompt: "small",
  connections: 1,
  spreadMs: 0,
  until: { requests: 1 },
};

/** A figure that may be missing: the machine does not tell CPU time, or nothing was counted. */
export function per(metric: string, amount: number | null, count: number): Figures {
  return amount === null || count === 0 ? {} : { [metric]: amount / count };
}
