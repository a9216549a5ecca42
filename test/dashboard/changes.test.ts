import { describe, expect, test } from "vitest";
import { Changes } from "../../src/dashboard/changes.ts";
import { createBoard } from "../../src/events/live.ts";
import { finished, live } from "../events/samples.ts";

const clock = { now: () => 1_000_000, wait: async () => undefined };

describe("what a watcher is told", () => {
  test("a request is told when it comes, when its numbers change, and when it goes; not because time has passed", () => {
    const board = createBoard(clock);
    const changes = new Changes();
    const request = live({ id: "a" });
    board.begin(request);
    expect(changes.of(board.snapshot())).toMatchObject({ live: [{ id: "a", tokens: 0 }] });
    expect(
      changes.of({ ...board.snapshot(), live: board.snapshot().live.map((one) => ({ ...one, ms: one.ms + 250 })) }),
    ).toEqual({});
    request.tokens = 3;
    expect(changes.of(board.snapshot())).toMatchObject({ live: [{ id: "a", tokens: 3 }] });
    board.event(finished({ id: "a" }));
    expect(changes.of(board.snapshot())).toMatchObject({ gone: ["a"], ended: [{ id: "a" }] });
    expect(changes.of(board.snapshot())).toEqual({});
  });

  test("one that came and went between two looks is only told as ended", () => {
    const board = createBoard(clock);
    const changes = new Changes();
    board.begin(live({ id: "quick" }));
    board.event(finished({ id: "quick" }));
    const { live: running, gone, ended } = changes.of(board.snapshot());
    expect([running, gone, ended?.map(({ id }) => id)]).toEqual([undefined, undefined, ["quick"]]);
  });

  test("of the ends only the new ones, newest first, also where more ended than are kept", () => {
    const board = createBoard(clock);
    const changes = new Changes();
    board.event(finished({ id: "1" }));
    changes.of(board.snapshot());
    board.event(finished({ id: "2" }));
    board.event(finished({ id: "3" }));
    expect(changes.of(board.snapshot()).ended?.map(({ id }) => id)).toEqual(["3", "2"]);
    for (let i = 0; i < 300; i++) board.event(finished({ id: `more-${i}` }));
    expect(changes.of(board.snapshot()).ended).toHaveLength(200);
  });

  test("of the series the newest slice again, since it grows, and those behind it", () => {
    let now = 1_000_000;
    const board = createBoard({ ...clock, now: () => now });
    const changes = new Changes();
    board.event(finished());
    now += 10_000;
    board.event(finished());
    expect(changes.of(board.snapshot()).series?.map(({ from }) => from)).toEqual([1_000_000, 1_010_000]);
    board.event(finished({ outcome: "healed" }));
    now += 10_000;
    board.event(finished());
    expect(changes.of(board.snapshot()).series).toEqual([
      { from: 1_010_000, outcomes: { complete: 1, healed: 1 } },
      { from: 1_020_000, outcomes: { complete: 1 } },
    ]);
  });

  test("other parts are told again only where they differ", () => {
    const changes = new Changes();
    const upstreams = [{ name: "up", place: "h:1", dialect: "generic" as const }];
    expect(changes.parts({ upstreams, models: [] })).toEqual({ upstreams, models: [] });
    expect(changes.parts({ upstreams: [...upstreams], models: [] })).toEqual({});
    expect(changes.parts({ upstreams: [], models: [] })).toEqual({ upstreams: [] });
  });
});
