import type { Facts, State } from "./state.ts";

/** Tokens of room below which no further pass is begun. */
const MIN_ROOM = 512;
/** Tokens: the least cap of a later pass, where window and limits allow it. */
const LATER_CAP = 4096;
/** A turn is asked again with a cap that is larger by at least this factor: a little more is cut in the same place. */
const WORTHWHILE = 1.1;

/** Too little room for a further pass. */
export function cramped(room: number | null): boolean {
  return room !== null && room < MIN_ROOM;
}

/** The cap of a turn that is asked again, where it is well above what was not enough; null: it cannot be. */
export function largerCap(state: State, facts: Facts, generated: number): number | null {
  if (cramped(facts.roomAgain)) return null;
  const cap = capAfter(state, generated, facts, facts.roomAgain);
  return cap !== null && cap >= WORTHWHILE * (state.cap ?? generated) ? cap : null;
}

/** The cap of a later pass: twice what was not enough, at least 4096, within room, limit, and what strictness leaves. */
function capAfter(state: State, generated: number, facts: Facts, room: number | null): number | null {
  return capWithin(Math.max(2 * (state.cap ?? generated), LATER_CAP), facts, room);
}

/** For a pass that goes on with what is there. */
export function laterCap(state: State, facts: Facts, generated: number): number | null {
  return capAfter(state, generated, facts, facts.room);
}

export function capWithin(cap: number | null, facts: Facts, room: number | null): number | null {
  if (cap === null) return null;
  const strict = facts.strictLeft === null ? cap : facts.strictLeft + facts.allowance;
  return Math.max(1, Math.min(cap, room ?? cap, facts.modelLimit ?? cap, strict));
}
