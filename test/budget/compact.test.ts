import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compact, type Message, NOTICE_TOKENS } from "../../src/budget/compact.ts";

const s = (tokens: number): Message => ({ role: "system", tokens });
const u = (tokens: number): Message => ({ role: "user", tokens });
const a = (tokens: number): Message => ({ role: "assistant", tokens });
const t = (tokens: number): Message => ({ role: "tool", tokens });

describe("a history that is too long", () => {
  const history = [s(50), u(100), a(20), t(1000), a(100), u(100), a(20), t(1000), a(100), u(80)];

  test("loses the content of its oldest tool results first", () => {
    const { kept, shortened, dropped, saved, enough } = compact(history, 500);
    expect(shortened).toEqual([3]);
    expect(kept).toHaveLength(history.length);
    expect(dropped).toEqual([]);
    expect([saved, enough]).toEqual([1000 - NOTICE_TOKENS, true]);
  });

  test("then its oldest exchanges, whole", () => {
    const { kept, shortened, dropped, saved } = compact(history, 2100);
    expect(dropped).toEqual([1, 2, 3, 4]);
    expect(kept).toEqual([0, 5, 6, 7, 8, 9]);
    expect(shortened).toEqual([7]);
    expect(saved).toBe(1220 + 1000 - NOTICE_TOKENS);
  });

  test("keeps the system message and the last user message whatever is wanted", () => {
    const { kept, enough } = compact(history, 1_000_000);
    expect(kept).toEqual([0, 9]);
    expect(enough).toBe(false);
  });

  test("of a long run of calls loses the oldest calls with their results, and keeps the newest", () => {
    const run = [s(10), u(50), a(20), t(500), a(20), t(500), t(400), a(20), t(500)];
    const little = compact(run, 600);
    expect(little.shortened).toEqual([3, 5]);
    const much = compact(run, 1400);
    expect(much.dropped).toEqual([2, 3, 4, 5, 6]);
    expect(much.kept).toEqual([0, 1, 7, 8]);
  });

  test("a beginning of the reply that the client has written stays", () => {
    expect(compact([u(10), a(500), u(10), a(5)], 100).kept).toEqual([2, 3]);
  });

  test("wants nothing, loses nothing", () => {
    expect(compact(history, 0)).toMatchObject({ shortened: [], dropped: [], saved: 0, enough: true });
  });
});

test("pairs, order, system and last user message are kept, and the sum is right, whatever the history", () => {
  const round = fc.record({ user: fc.boolean(), results: fc.nat(3), tokens: fc.integer({ min: 1, max: 900 }) });
  fc.assert(
    fc.property(fc.array(round, { maxLength: 12 }), fc.nat(6000), (rounds, wanted) => {
      const history = [
        s(30),
        u(20),
        ...rounds.flatMap(({ user, results, tokens }) => [
          ...(user ? [u(tokens)] : []),
          a(tokens),
          ...Array.from({ length: results }, () => t(tokens)),
        ]),
      ];
      const { kept, shortened, dropped, saved, enough } = compact(history, wanted);
      expect([...kept, ...dropped].sort((x, y) => x - y)).toEqual(history.map((_, i) => i));
      expect(kept).toEqual([...kept].sort((x, y) => x - y));
      expect(kept).toContain(0);
      expect(kept).toContain(history.findLastIndex(({ role }) => role === "user"));
      for (const place of shortened) expect(history[place]?.role).toBe("tool");
      // A result stays or goes with the call before it.
      for (const [place, { role }] of history.entries())
        if (role === "tool") expect(kept.includes(place)).toBe(kept.includes(place - 1));
      const before = history.reduce((sum, { tokens }) => sum + tokens, 0);
      const after = kept.reduce(
        (sum, place) => sum + (shortened.includes(place) ? NOTICE_TOKENS : (history[place]?.tokens ?? 0)),
        0,
      );
      expect(before - after).toBe(saved);
      expect(enough).toBe(saved >= wanted);
    }),
    { numRuns: 1000 },
  );
});
