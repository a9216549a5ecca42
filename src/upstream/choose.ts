import { createHash } from "node:crypto";
import type { Health } from "./health.ts";

/** One of several servers of a model. */
export interface Candidate {
  readonly name: string;
  readonly health: Health;
  /** Requests under way and in line there. */
  readonly load: number;
}

/** A conversation leaves the server that has its prompt in its cache only for one with less than half as many requests, and these fewer. */
const TIMES_BUSIER = 2;
const MORE = 4;

/**
 * The server for a conversation: always the same one, as long as it is well and not clearly busier than another. Each server has its own
 * order of preference in every conversation (rendezvous hashing), so that one that goes or comes moves only its own.
 * @param conversation what all its requests have in common
 */
export function choose<T extends Candidate>(servers: readonly [T, ...T[]], conversation: string, now: number): T {
  const [only] = servers;
  if (servers.length === 1) return only;
  const ranked = servers
    .map((server) => ({ server, rank: rankOf(conversation, server.name) }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ server }) => server);
  const ready = ranked.filter(({ health }) => health.isReady(now));
  const able = ready.length > 0 ? ready : ranked;
  const least = Math.min(...able.map(({ load }) => load));
  return able.find(({ load }) => load <= TIMES_BUSIER * least + MORE) ?? only;
}

function rankOf(conversation: string, name: string): number {
  return createHash("sha256").update(`${name}\n${conversation}`).digest().readUIntBE(0, 6);
}
