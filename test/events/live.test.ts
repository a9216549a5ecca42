import { describe, expect, test } from "vitest";
import { createBoard, type Snapshot } from "../../src/events/live.ts";
import { attempt, finished, live } from "./samples.ts";

/** A clock that stands still until it is moved; waits end when a test says so. */
function clock() {
  let now = 1_000_000;
  const waits: (() => void)[] = [];
  return {
    now: () => now,
    move: (ms: number) => {
      now += ms;
    },
    waits,
    wait: (_: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        waits.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      }),
  };
}

describe("the board", () => {
  test("a request is live from its begin to its end, with the numbers it has by then", () => {
    const board = createBoard(clock());
    const request = live({ model: "a\nb" });
    board.begin(request);
    request.tokens = 7;
    expect(board.snapshot().live).toMatchObject([{ id: "r1", model: "a\uFFFDb", tokens: 7 }]);
    request.attempts.push(attempt());
    request.cuts.push(64);
    board.event(finished({ outcome: "cut_off", cause: "reply_cap" }));
    const { live: left, recent } = board.snapshot();
    expect(left).toEqual([]);
    expect(recent).toMatchObject([
      { id: "r1", outcome: "cut_off", window: 4096, promptTokens: 80, cuts: [64], attempts: [{ result: "cut" }] },
    ]);
  });

  test("one that ended before it could begin is told of all the same", () => {
    const board = createBoard(clock());
    board.event(finished({ outcome: "rejected", promptTokens: null }));
    expect(board.snapshot().recent).toMatchObject([
      { outcome: "rejected", promptTokens: 100, window: null, attempts: [] },
    ]);
  });

  test("the last 200 are kept, newest first", () => {
    const board = createBoard(clock());
    for (let i = 0; i < 250; i++) board.event(finished({ id: `r${i}` }));
    const { recent, version } = board.snapshot();
    expect([recent.length, recent[0]?.id, recent.at(-1)?.id, version]).toEqual([200, "r249", "r50", 250]);
  });

  test("outcomes over the last hour, in slices of 10 s", () => {
    const time = clock();
    const board = createBoard(time);
    board.event(finished());
    board.event(finished({ outcome: "healed" }));
    time.move(10_000);
    board.event(finished());
    expect(board.snapshot().series).toEqual([
      { from: 1_000_000, outcomes: { complete: 1, healed: 1 } },
      { from: 1_010_000, outcomes: { complete: 1 } },
    ]);
    time.move(3_590_000);
    board.event(finished());
    expect(board.snapshot().series.map(({ from }) => from)).toEqual([1_010_000, 4_600_000]);
  });

  test("tokens saved are those of passes that were gone on with in replies that were healed", () => {
    const board = createBoard(clock());
    const passes = [
      attempt({ completion_tokens: 64 }),
      attempt({ result: "discarded", completion_tokens: 500 }),
      attempt({ result: "whole" }),
    ];
    board.begin(live({ id: "a", attempts: passes }));
    board.event(finished({ id: "a", outcome: "healed" }));
    board.begin(live({ id: "b", attempts: passes }));
    board.event(finished({ id: "b", outcome: "cut_off" }));
    expect(board.snapshot().tokensSaved).toBe(64);
  });
});

describe("watching", () => {
  test("a snapshot at once, then only when there is something new, and no timer is left behind", async () => {
    const time = clock();
    const board = createBoard(time);
    const leave = new AbortController();
    const seen: Snapshot[] = [];
    expect(time.waits).toHaveLength(0);
    const done = (async () => {
      for await (const snapshot of board.watch(250, leave.signal)) seen.push(snapshot);
    })();
    const tick = async () => {
      time.waits.at(-1)?.();
      await new Promise((resolve) => setImmediate(resolve));
    };
    await tick();
    expect(seen).toHaveLength(1);
    await tick();
    expect(seen).toHaveLength(1);
    board.begin(live());
    await tick();
    expect(seen.at(-1)?.live).toHaveLength(1);
    board.event(finished());
    await tick();
    expect(seen.at(-1)).toMatchObject({ live: [], version: 1 });
    const quiet = seen.length;
    await tick();
    await tick();
    expect(seen).toHaveLength(quiet);
    leave.abort();
    await done;
  });
});
