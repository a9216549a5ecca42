import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelFacts } from "../../src/upstream/facts.ts";
import { plausibleWindow } from "../../src/upstream/lessons.ts";

const loaded = (window: number) => modelFacts(["m"], { window, source: "loaded" });
const stale = (window: number) => modelFacts(["m"], { window, source: "loaded", doubtful: true });
const served = (window: number) => modelFacts(["m"], { window, source: "served" });
const catalog = (window: number) => modelFacts(["m"], { window, source: "catalog" });
const trained = (window: number) => modelFacts(["m"], { trained: window });

describe("a window that an error names", () => {
  test("B6: '3 tokens' is never believed, whatever is listed", () => {
    for (const listed of [loaded(2048), stale(2048), served(2048), catalog(2048), trained(2048), null])
      expect(plausibleWindow(3, { listed, served: 0, prompt: 8 })).toBe(false);
  });

  test("B6: nor is any below the size that runs: the cap was subtracted before it was printed", () => {
    expect(plausibleWindow(1048, { listed: loaded(2048), served: 0, prompt: 1100 })).toBe(false);
    expect(plausibleWindow(2048, { listed: loaded(2048), served: 0, prompt: 2100 })).toBe(true);
  });

  test("B2: LM Studio's list may be stale: the error beats it if the prompt that it names did not fit", () => {
    expect(plausibleWindow(30_000, { listed: stale(131_072), served: 0, prompt: 31_430 })).toBe(true);
    expect(plausibleWindow(4096, { listed: stale(8192), served: 0, prompt: null })).toBe(true);
    expect(plausibleWindow(30_000, { listed: stale(131_072), served: 0, prompt: 200 })).toBe(false);
  });

  test("a smaller provider than the one listed, but not by a wide margin", () => {
    expect(plausibleWindow(32_768, { listed: served(131_072), served: 0, prompt: 40_000 })).toBe(true);
    expect(plausibleWindow(1024, { listed: served(131_072), served: 0, prompt: 40_000 })).toBe(false);
  });

  test("a trained maximum or a catalog contradicts nobody", () => {
    expect(plausibleWindow(4096, { listed: trained(262_144), served: 0, prompt: 5000 })).toBe(true);
    expect(plausibleWindow(4096, { listed: catalog(128_000), served: 0, prompt: 5000 })).toBe(true);
    expect(plausibleWindow(4096, { listed: null, served: 0, prompt: 5000 })).toBe(true);
  });

  test("never below what was served", () => {
    for (const listed of [stale(131_072), served(131_072), catalog(131_072), null]) {
      expect(plausibleWindow(30_000, { listed, served: 30_001, prompt: 31_430 })).toBe(false);
      expect(plausibleWindow(30_000, { listed, served: 30_000, prompt: 31_430 })).toBe(true);
    }
  });

  test("what is believed is at least what was served, and at least 128", () => {
    const facts = fc.constantFrom(loaded(8192), stale(8192), served(8192), catalog(8192), trained(8192), null);
    fc.assert(
      fc.property(fc.double(), facts, fc.nat(100_000), fc.option(fc.nat(200_000)), (window, listed, most, prompt) => {
        if (plausibleWindow(window, { listed, served: most, prompt }))
          expect(window).toBeGreaterThanOrEqual(Math.max(most, 128));
      }),
    );
  });
});
