import type { Ask } from "../core/ask.ts";
import type { JsonObject } from "../core/json.ts";
import type { Wire } from "../wire/wire.ts";
import { type Compaction, compact } from "./compact.ts";
import type { Count, Counter, Target } from "./count.ts";

/** What stands in place of an old tool result. */
const NOTICE = "[This tool result was left out to make room. Call the tool again if it is needed.]";

/** A request whose history was shortened, and what was left out of it. */
export interface Shortened {
  readonly ask: Ask;
  readonly dropped: number;
  readonly shortened: number;
  /** Tokens that this saves, about. */
  readonly saved: number;
}

/**
 * Leaves out of the history what saves `wanted` tokens: the oldest tool results first, then the oldest turns. null: it cannot be done
 * without touching the system message, the last user turn, or a call's result.
 */
export async function shorten(
  wire: Wire,
  ask: Ask,
  counter: Counter,
  target: Target,
  wanted: number,
): Promise<Shortened | null> {
  const { history } = wire;
  if (history === undefined) return null;
  const messages = history.messages(ask.body);
  const counts = await Promise.all(messages.map(({ alone }) => countAlone(wire, counter, target, alone)));
  const compaction: Compaction = compact(
    messages.map(({ role }, i) => ({ role, tokens: counts[i]?.tokens ?? 0 })),
    wanted,
  );
  if (!compaction.enough) return null;
  const body = history.shorten(ask.body, compaction, NOTICE);
  return {
    ask: { ...ask, body, verbatim: false },
    dropped: compaction.dropped.length,
    shortened: compaction.shortened.length,
    saved: compaction.saved,
  };
}

function countAlone(wire: Wire, counter: Counter, target: Target, body: JsonObject): Count | Promise<Count> {
  return counter.count(wire.pieces(body), { ...target, bodyBytes: Buffer.byteLength(JSON.stringify(body)) });
}
