import type { Ended, Running, Slice } from "../events/live.ts";
import type { Tally } from "../events/tally.ts";
import type { DialectName, WindowSource } from "../upstream/dialect.ts";

/** What the page is told, piece by piece. A part that is absent is as it was. Numbers and names, never content or keys. */
export interface Update {
  /** The first of a connection: all that was shown before is void. */
  readonly first?: First;
  /** New or changed. */
  readonly live?: readonly Running[];
  /** Ids that are no longer live. */
  readonly gone?: readonly string[];
  /** Newest first. */
  readonly ended?: readonly Ended[];
  /** New or changed. */
  readonly series?: readonly Slice[];
  readonly tokensSaved?: number;
  readonly tallies?: readonly Tally[];
  readonly upstreams?: readonly UpstreamLine[];
  readonly models?: readonly ModelLine[];
}

interface First {
  readonly version: string;
  /** Milliseconds since the epoch, by the proxy's clock. */
  readonly now: number;
}

export interface UpstreamLine {
  readonly name: string;
  /** Host and port. */
  readonly place: string;
  readonly dialect: DialectName;
  /** Why it does not answer; null: it does; undefined: not asked yet. */
  readonly unready?: string | null;
}

export interface ModelLine {
  readonly upstream: string;
  readonly model: string;
  /** Tokens; null: unknown. */
  readonly window: number | null;
  readonly source: WindowSource;
  /** Tokens; null: no limit is known. */
  readonly maxOutput: number | null;
  readonly reasoning: boolean;
  readonly continuation: Continuation;
}

/** How a cut chat reply of a model is gone on with, and how that is known. */
export interface Continuation {
  readonly way: "prefill" | "raw" | "nudge" | "never";
  /**
   * - `config`: said there; `seen`: found out from live replies; `documented`: the server is known for it
   * - `untried`: the first cut will show; `only`: this kind of server has no other way
   */
  readonly known: "config" | "seen" | "documented" | "untried" | "only";
}
