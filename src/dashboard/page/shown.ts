import type { Ended, Running, Slice } from "../../events/live.ts";
import type { Tally } from "../../events/tally.ts";
import type { ModelLine, Update, UpstreamLine } from "../update.ts";

export interface LiveRow extends Running {
  /** When it came, in milliseconds of this page's own clock. */
  readonly since: number;
}

/** All that the page shows. Lists are replaced when they change, so that a view sees at a glance whether it has to. */
export interface Shown {
  version: string;
  /** The proxy's clock less this page's, in milliseconds. */
  skewMs: number;
  live: Map<string, LiveRow>;
  /** Newest first, at most 200. */
  recent: readonly Ended[];
  /** By start; at most an hour of them. */
  slices: Map<number, Slice>;
  tokensSaved: number;
  tallies: readonly Tally[];
  upstreams: readonly UpstreamLine[];
  models: readonly ModelLine[];
  /** By model: how its last prompt was counted. */
  counted: Map<string, string>;
}

const RECENT = 200;
const HOUR_MS = 3_600_000;

export function nothing(): Shown {
  return {
    version: "",
    skewMs: 0,
    live: new Map(),
    recent: [],
    slices: new Map(),
    tokensSaved: 0,
    tallies: [],
    upstreams: [],
    models: [],
    counted: new Map(),
  };
}

/** Takes in what has changed. `now`: milliseconds since the epoch, by this page's clock. */
export function take(shown: Shown, update: Update, now: number): void {
  if (update.first !== undefined) {
    Object.assign(shown, nothing());
    shown.version = update.first.version;
    shown.skewMs = update.first.now - now;
  }
  for (const id of update.gone ?? []) shown.live.delete(id);
  for (const request of update.live ?? []) shown.live.set(request.id, { ...request, since: now - request.ms });
  if (update.ended !== undefined) {
    shown.recent = [...update.ended, ...shown.recent].slice(0, RECENT);
    for (const { model, countMethod } of update.ended.toReversed())
      if (countMethod !== null) shown.counted.set(model, countMethod);
  }
  for (const slice of update.series ?? []) shown.slices.set(slice.from, slice);
  for (const from of shown.slices.keys()) if (from <= now + shown.skewMs - HOUR_MS) shown.slices.delete(from);
  shown.tokensSaved = update.tokensSaved ?? shown.tokensSaved;
  shown.tallies = update.tallies ?? shown.tallies;
  shown.upstreams = update.upstreams ?? shown.upstreams;
  shown.models = update.models ?? shown.models;
}
