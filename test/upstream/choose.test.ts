import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, choose } from "../../src/upstream/choose.ts";
import { Health } from "../../src/upstream/health.ts";

const server = (name: string, load = 0): Candidate => ({ name, load, health: new Health() });
const conversations = Array.from({ length: 300 }, (_, i) => `conversation ${i}`);

describe("the server for a conversation", () => {
  it("is always the same one, whatever the order in which they are listed", () => {
    fc.assert(
      fc.property(fc.string(), (conversation) => {
        const [a, b, c] = [server("a"), server("b"), server("c")];
        const one = choose([a, b, c], conversation, 0).name;
        expect(choose([c, a, b], conversation, 0).name).toBe(one);
      }),
    );
  });

  it("is each of them about equally often, and one that is added takes only what becomes its own", () => {
    const [a, b, c] = [server("a"), server("b"), server("c")];
    const counts = new Map<string, number>();
    for (const conversation of conversations) {
      const before = choose([a, b], conversation, 0).name;
      const after = choose([a, b, c], conversation, 0).name;
      expect(after === before || after === "c").toBe(true);
      counts.set(after, (counts.get(after) ?? 0) + 1);
    }
    for (const name of ["a", "b", "c"]) expect(counts.get(name)).toBeGreaterThan(60);
  });

  it("is another while its own is not well, and its own again afterwards", () => {
    const [a, b] = [server("a"), server("b")];
    const home = choose([a, b], "x", 0);
    home.health.failed(0, true);
    expect(choose([a, b], "x", 1).name).not.toBe(home.name);
    home.health.worked();
    expect(choose([a, b], "x", 2).name).toBe(home.name);
  });

  it("is its own where none is well", () => {
    const [a, b] = [server("a"), server("b")];
    const home = choose([a, b], "x", 0).name;
    for (const { health } of [a, b]) health.failed(0, true);
    expect(choose([a, b], "x", 1).name).toBe(home);
  });

  it("is another only where its own is clearly busier", () => {
    const home = choose([server("a"), server("b")], "x", 0).name;
    const other = home === "a" ? "b" : "a";
    expect(choose([server(home, 4), server(other, 0)], "x", 0).name).toBe(home);
    expect(choose([server(home, 5), server(other, 0)], "x", 0).name).toBe(other);
    expect(choose([server(home, 24), server(other, 10)], "x", 0).name).toBe(home);
    expect(choose([server(home, 25), server(other, 10)], "x", 0).name).toBe(other);
  });
});

describe("health", () => {
  it("two failures in a row, or one connection that cannot be made, and it rests; longer each time", () => {
    const health = new Health();
    health.failed(0, false);
    expect(health.isReady(0)).toBe(true);
    health.failed(0, false);
    expect([health.isReady(4_999), health.isReady(5_000)]).toEqual([false, true]);
    health.failed(5_000, false);
    expect([health.isReady(14_999), health.isReady(15_000)]).toEqual([false, true]);
    for (let i = 0; i < 20; i++) health.failed(15_000, true);
    expect([health.isReady(74_999), health.isReady(75_000)]).toEqual([false, true]);
  });

  it("one request finds out whether it is over, the others wait for it", () => {
    const health = new Health();
    health.failed(0, true);
    expect(health.isReady(5_000)).toBe(true);
    health.tried(5_000);
    expect(health.isReady(5_001)).toBe(false);
    health.worked();
    expect(health.isReady(5_002)).toBe(true);
    health.tried(5_002);
    expect(health.isReady(5_003)).toBe(true);
  });

  it("a single failure between answers is none", () => {
    const health = new Health();
    for (let i = 0; i < 5; i++) {
      health.failed(i, false);
      health.worked();
    }
    expect(health.isReady(5)).toBe(true);
  });

  it("who asked for less is left alone for as long as it said", () => {
    const health = new Health();
    health.limited(0, 3);
    expect([health.isReady(2_999), health.isReady(3_000)]).toEqual([false, true]);
  });
});
