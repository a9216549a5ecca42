import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeCase, WAYS } from "../../bench/seam/case.ts";
import { Random } from "../../bench/seam/random.ts";
import { CHAT, IGNORING, resumes } from "../../bench/seam/servers.ts";
import { prepareNudge } from "../../src/stitch/anchor.ts";
import { inkEnd, lastGrapheme } from "../../src/stitch/characters.ts";
import { type Discard, openSeam, type Seam } from "../../src/stitch/seam.ts";
import { play } from "./joining.ts";

const REASONS: readonly (Discard | null)[] = [
  null,
  "no_alignment",
  "ambiguous",
  "ahead",
  "diverged",
  "restart_diverged",
  "glued",
  "comment_only",
  "language",
  "loop",
];

/** Texts as replies are, cut as caps cut, answered as models answer. */
const cuts = fc
  .record({
    seed: fc.integer({ min: 0, max: 1_000_000 }),
    way: fc.constantFrom(...WAYS),
    after: fc.constantFrom(...REASONS),
  })
  .map(({ seed, way, after }) => ({ one: makeCase(seed, way), after, random: new Random(seed) }))
  .map((all) => ({ ...all, sent: all.one.sample.text.slice(0, all.one.cut.at) }))
  .filter(({ sent }) => inkEnd(sent) > 0);

/** Anything at all, with the signs that matter more often than others. */
const anything = fc.string({
  unit: fc.constantFrom(..."ab Z.,\n\t\r`~|-1漢\u00a0\u200d\ufeff\ufffd", "the ", "```py\n", "😀", "\ud83d"),
  maxLength: 60,
});

function split(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % Math.max(1, sizes.length)] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

function agree(open: () => Seam, sent: string, pass: string, sizes: readonly number[]): void {
  const whole = play(open(), sent, [pass]).verdict;
  expect(play(open(), sent, split(pass, sizes)).verdict).toEqual(whole);
  expect(play(open(), sent, ["", ...split(pass, [1]), ""]).verdict).toEqual(whole);
  if (whole.do === "release") {
    expect(whole.drop).toBeGreaterThanOrEqual(0);
    expect(whole.drop).toBeLessThanOrEqual(pass.length);
  }
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });

describe("laws", () => {
  test("however a pass is split, verdict and drop are the same: nudged", () => {
    fc.assert(
      fc.property(cuts, fc.constantFrom(...CHAT), sizes, ({ one, after, random, sent }, model, parts) => {
        const asked = prepareNudge(sent, after);
        const pass = model.write(one.sample, asked, random);
        agree(() => openSeam({ strategy: "nudge", sent, anchor: asked.anchor, seen: asked.seen }), sent, pass, parts);
      }),
      { numRuns: 100 },
    );
  });

  test("however a pass is split, verdict and drop are the same: resumed", () => {
    const servers = fc.constantFrom(resumes, ...IGNORING);
    fc.assert(
      fc.property(
        cuts,
        servers,
        sizes,
        fc.boolean(),
        fc.boolean(),
        ({ one, random, sent }, server, parts, sure, trims) => {
          const trimmed = trims ? sent.slice(inkEnd(sent)) : "";
          const partial = sent.slice(0, sent.length - trimmed.length);
          const pass = server.write(one.sample, { partial, anchor: "" }, random);
          for (const echo of ["never", "always"] as const) {
            const open = () => openSeam({ strategy: "prefill", sent, trimmed, echo, sure });
            agree(open, sent, echo === "always" ? partial + pass : pass, parts);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test("however a pass is split, verdict and drop are the same: whatever it says", () => {
    fc.assert(
      fc.property(anything, anything, sizes, fc.constantFrom(...REASONS), (sent, pass, parts, after) => {
        const asked = prepareNudge(sent, after);
        agree(() => openSeam({ strategy: "nudge", sent, anchor: asked.anchor, seen: asked.seen }), sent, pass, parts);
        for (const sure of [true, false])
          for (const echo of ["never", "always"] as const)
            agree(
              () => openSeam({ strategy: "prefill", sent, trimmed: sent.slice(inkEnd(sent)), echo, sure }),
              sent,
              pass,
              parts,
            );
      }),
      { numRuns: 300 },
    );
  });

  test("a server that is known to resume is never touched, whatever it says, and flows from its first character", () => {
    fc.assert(
      fc.property(anything, anything, (sent, pass) => {
        fc.pre(!pass.startsWith("\ufeff") && !/[`~]/.test(sent));
        const seam = openSeam({ strategy: "raw", sent, trimmed: "", echo: "never", sure: true });
        expect(pass === "" ? seam.end() : seam.push(pass.charAt(0))).toMatchObject({ do: "release", drop: 0 });
      }),
    );
  });

  test("partial and seen are the text, the anchor ends the partial, and no grapheme is cut", () => {
    fc.assert(
      fc.property(cuts, ({ sent, after }) => {
        const { partial, seen, anchor, instruction } = prepareNudge(sent, after);
        expect(partial + seen).toBe(sent);
        expect(inkEnd(partial)).toBe(partial.length);
        expect(anchor).not.toBe("");
        expect(partial.endsWith(anchor)).toBe(true);
        expect(instruction).toContain(`\n${anchor}\n`);
        expect(lastGrapheme(partial + seen.slice(0, 1))).toBeGreaterThanOrEqual(
          Math.min(lastGrapheme(partial), partial.length),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("work is bounded: a long text of one thing over and over is joined or let go at once", () => {
    for (const unit of ["a", "ab ", "$$\n", "```\n", "> - 1. ", "のが"]) {
      const sent = `Rows: ${unit.repeat(150_000 / unit.length)}x`;
      const asked = prepareNudge(sent, "no_alignment");
      for (const pass of [sent.slice(0, 20_000), `${sent.slice(0, 5_000)}!${unit.repeat(2_000)}`, "\n".repeat(5_000)]) {
        expect(play(openSeam({ strategy: "nudge", sent, ...asked }), sent, [pass]).text.startsWith(sent)).toBe(true);
        const resumed = openSeam({ strategy: "prefill", sent, trimmed: "", echo: "always", sure: false });
        expect(play(resumed, sent, [pass]).text.startsWith(sent)).toBe(true);
      }
    }
  });
});
