import { describe, expect, it } from "vitest";
import { Over } from "../../src/core/over.ts";

describe("what ends a request from outside", () => {
  it("tells its listeners once, with the first reason", () => {
    const over = new Over();
    let told = 0;
    over.onEnd(() => told++);
    over.end("first");
    over.end("second");
    expect([told, over.ended, over.why]).toEqual([1, true, "first"]);
  });

  it("tells who comes late at once", () => {
    const over = new Over();
    over.end("why");
    let told = 0;
    over.onEnd(() => told++);
    expect(told).toBe(1);
  });

  it("does not tell who has taken it back", () => {
    const over = new Over();
    let told = "";
    over.onEnd(() => {
      told += "a";
    });
    const forget = over.onEnd(() => {
      told += "b";
    });
    forget();
    forget();
    over.end("why");
    expect(told).toBe("a");
  });

  it("is a signal for those who want one, before and after the end", () => {
    const [early, late] = [new Over(), new Over()];
    const { signal } = early;
    early.end("why");
    late.end("why");
    expect([signal.reason, late.signal.reason]).toEqual(["why", "why"]);
    expect([signal.aborted, late.signal.aborted]).toEqual([true, true]);
  });

  it("lets work settle", async () => {
    const over = new Over();
    await expect(over.until(Promise.resolve(1))).resolves.toBe(1);
    await expect(over.until(Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("ends the waiting for work that does not settle", async () => {
    const over = new Over();
    const waiting = over.until(new Promise(() => undefined));
    over.end("why");
    await expect(waiting).rejects.toBe("why");
    await expect(over.until(Promise.reject(new Error("unheard")))).rejects.toBe("why");
  });
});
