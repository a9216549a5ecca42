import type { Counter } from "../budget/count.ts";
import type { Config } from "../config/load.ts";
import type { Log } from "../events/log.ts";
import type { Knowledge } from "../upstream/knowledge.ts";
import type { Server } from "../upstream/server.ts";
import { Elsewhere } from "./elsewhere.ts";
import { Facts } from "./facts.ts";
import { SharedPermits } from "./permits.ts";
import { Store } from "./redis.ts";
import { Rests } from "./rests.ts";

/** What this replica shares with others. Where Redis is away, each part is as if there were no others. */
export interface SharedState {
  /** Runs with an `Idempotency-Key`; null: they are not shared. */
  readonly runs: Elsewhere | null;
  readonly permits: SharedPermits;
  readonly rests: Rests;
  close(): Promise<void>;
}

export interface SharedStateOptions {
  readonly config: () => Config;
  readonly log: Log;
  readonly knowledge: Knowledge;
  readonly counter: Counter;
  readonly servers: () => readonly Server[];
  /** A replica that has not been heard of for this long is dead. @default 5000 */
  readonly leaseMs?: number;
}

/** null: nothing is shared. The section `state` is read once: a change takes effect at the next start. */
export function createState({
  config,
  log,
  knowledge,
  counter,
  servers,
  leaseMs = 5_000,
}: SharedStateOptions): SharedState | null {
  const { redis, replays, replayKey } = config().state;
  if (redis === "") return null;
  const store = new Store(redis, (connected, why) => {
    if (connected) log.say("info", "the shared state is there", {});
    else log.say("warn", "the shared state is away; this process works on its own memory", { error: why });
  });
  const urlOf = (upstream: string) => config().upstreams.find(({ name }) => name === upstream)?.url ?? null;
  const facts = new Facts({ store, knowledge, counter, urlOf });
  const permits = new SharedPermits(store);
  const rests = new Rests(store, servers);
  const runs = replays ? new Elsewhere(store, replayKey, () => config().limits.replaySeconds, leaseMs) : null;
  return {
    runs,
    permits,
    rests,
    async close() {
      permits.close();
      rests.close();
      await Promise.all([facts.close(), runs?.close()]);
      await store.close();
    },
  };
}
