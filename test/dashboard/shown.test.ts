import { describe, expect, test } from "vitest";
import { Changes } from "../../src/dashboard/changes.ts";
import { nothing, take } from "../../src/dashboard/page/shown.ts";
import { createBoard } from "../../src/events/live.ts";
import { finished, live } from "../events/samples.ts";

const FIRST = { first: { version: "1", now: 5_000_000 } };

describe("what the page keeps of what it is told", () => {
  test("followed step by step, it is what a page that comes later is told at once", () => {
    let now = 5_000_000;
    const board = createBoard({ now: () => now, wait: async () => undefined });
    const followed = nothing();
    const changes = new Changes();
    take(followed, FIRST, now);
    for (let i = 0; i < 400; i++) {
      board.begin(live({ id: `r${i}`, tokens: i, startedAt: performance.now() }));
      if (i % 7 !== 0) board.event(finished({ id: `r${i}`, outcome: i % 3 === 0 ? "healed" : "complete" }));
      if (i % 5 === 0) take(followed, changes.of(board.snapshot()), now);
      now += 1_000;
    }
    take(followed, changes.of(board.snapshot()), now);
    const late = nothing();
    take(late, { ...FIRST, ...new Changes().of(board.snapshot()) }, now);
    expect([...followed.live.keys()]).toEqual([...late.live.keys()]);
    expect(followed.recent).toEqual(late.recent);
    expect([...followed.slices]).toEqual([...late.slices]);
    expect(followed.tokensSaved).toBe(late.tokensSaved);
  });

  test("a new connection begins anew: a proxy that was restarted knows nothing of before", () => {
    const shown = nothing();
    take(shown, { ...FIRST, tokensSaved: 7, tallies: [], live: [{ ...live({ id: "old" }), ms: 1 }] }, 5_000_000);
    take(shown, { first: { version: "2", now: 5_000_500 } }, 5_000_000);
    expect(shown).toEqual({ ...nothing(), version: "2", skewMs: 500 });
  });

  test("how a model's prompts are counted is taken from its newest request that was counted", () => {
    const shown = nothing();
    const board = createBoard({ now: () => 0, wait: async () => undefined });
    board.event(finished({ model: "m", countMethod: "exact" }));
    board.event(finished({ model: "m", countMethod: "ceiling" }));
    board.event(finished({ model: "m", countMethod: null }));
    take(shown, new Changes().of(board.snapshot()), 0);
    expect([...shown.counted]).toEqual([["m", "ceiling"]]);
  });

  test("slices older than an hour are let go, by the proxy's clock", () => {
    const shown = nothing();
    take(
      shown,
      {
        first: { version: "1", now: 10_000_000 },
        series: [
          { from: 6_000_000, outcomes: {} },
          { from: 6_500_000, outcomes: {} },
        ],
      },
      3,
    );
    expect([...shown.slices.keys()]).toEqual([6_500_000]);
  });
});
