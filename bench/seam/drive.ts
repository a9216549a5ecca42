import { prepareNudge } from "../../src/stitch/anchor.ts";
import { inkEnd, solidEnd, wordHold } from "../../src/stitch/characters.ts";
import { type Discard, openSeam, type Seam, type SeamVerdict } from "../../src/stitch/seam.ts";
import type { Case } from "./case.ts";
import type { Naive } from "./naive.ts";
import { Random } from "./random.ts";

/** What became of a reply. Units are UTF-16. */
export interface Result {
  readonly text: string;
  /** Ended cut, and says so. */
  readonly cut: boolean;
  /** For each cut that was healed: passes until the client saw text again, and units that had come before it did. */
  readonly seams: readonly { readonly passes: number; readonly held: number }[];
  /** Units that were generated and not delivered. */
  readonly wasted: number;
}

const MOST_PASSES = 10;
/** Nudges in a row that may fail: one, and one more. */
const MOST_DISCARDS = 2;

/**
 * Plays a case through the seam engine as the runner does: resume where the server does, nudge where it does not or turned out not to,
 * ask once more after a discard, then leave the reply cut.
 */
export function drive(one: Case, pieces: "streamed" | "plain", holdBack = false): Result {
  const [random, splits] = [new Random(one.seed ^ 0x5eed), new Random(one.seed)];
  const seams: { passes: number; held: number }[] = [];
  let sent = shown(one.sample.text.slice(0, one.cut.at), holdBack);
  let resuming = one.way !== "nudge";
  let later = one.later;
  let discards = 0;
  let after: Discard | null = null;
  let passes = 0;
  let wasted = 0;
  for (let total = 0; total < MOST_PASSES; total++) {
    const { seam, text } = resuming ? resumed(one, sent, random) : nudged(one, sent, after, random);
    const { pass, cut } = capped(one, text, later, resuming);
    const { verdict, came } = play(seam, pieces === "plain" ? [pass] : splits.split(pass, splits.pick([1, 4, 12])));
    passes++;
    if (verdict.do === "release") {
      wasted += verdict.drop;
      seams.push({ passes, held: came });
      const joined = sent + pass.slice(verdict.drop);
      if (!cut) return { text: joined, cut: false, seams, wasted };
      sent = shown(joined, holdBack);
      [later, passes, discards, after] = [null, 0, 0, null];
      continue;
    }
    wasted += came;
    if (resuming) {
      resuming = false;
      continue;
    }
    if (verdict.do === "discard") after = verdict.why;
    if (++discards === MOST_DISCARDS) break;
  }
  return { text: sent, cut: true, seams, wasted };
}

/** The same case with a join that others ship: no anchor, no check, no second try. */
export function driveNaive(one: Case, naive: Naive): Result {
  const random = new Random(one.seed ^ 0x5eed);
  const kept = naive.keep(one.sample.text.slice(0, one.cut.at));
  const server = one.way === "nudge" ? one.chat : one.server;
  const pass = server.write(one.sample, { partial: kept, anchor: "" }, random);
  return {
    text: naive.join(kept, one.echoes ? kept + pass : pass),
    cut: false,
    seams: [{ passes: 1, held: pass.length === 0 ? 0 : 1 }],
    wasted: 0,
  };
}

/** What the client is given of a cut text. */
function shown(text: string, holdBack: boolean): string {
  const last = text.charCodeAt(text.length - 1);
  // An upstream writes U+FFFD where the cap fell inside a character.
  const solid = text.slice(0, solidEnd(last >= 0xd800 && last <= 0xdbff ? `${text.slice(0, -1)}\ufffd` : text));
  return holdBack ? solid.slice(0, solid.length - wordHold(solid)) : solid;
}

/** A second cut falls where it would in the reply, counted from its end. */
function capped(one: Case, text: string, later: number | null, resuming: boolean): { pass: string; cut: boolean } {
  const server = resuming ? one.server : one.chat;
  const left = later === null || !server.true ? 0 : one.sample.text.length - later;
  const cut = left > 0 && left < text.length;
  return { pass: cut ? text.slice(0, text.length - left) : text, cut };
}

function resumed(one: Case, sent: string, random: Random): { seam: Seam; text: string } {
  const trimmed = one.trims ? sent.slice(inkEnd(sent)) : "";
  const partial = sent.slice(0, sent.length - trimmed.length);
  const text = one.server.write(one.sample, { partial, anchor: "" }, random);
  const seam = openSeam({
    strategy: one.way === "raw" ? "raw" : "prefill",
    sent,
    trimmed,
    echo: one.echoes ? "always" : "never",
    sure: one.way === "prefill" || one.way === "raw",
  });
  return { seam, text: one.echoes ? partial + text : text };
}

function nudged(one: Case, sent: string, after: Discard | null, random: Random): { seam: Seam; text: string } {
  const { partial, seen, anchor } = prepareNudge(sent, after);
  return {
    seam: openSeam({ strategy: "nudge", sent, seen, anchor }),
    text: one.chat.write(one.sample, { partial, anchor }, random),
  };
}

function play(seam: Seam, pieces: readonly string[]): { verdict: SeamVerdict; came: number } {
  let came = 0;
  for (const piece of pieces) {
    came += piece.length;
    const verdict = seam.push(piece);
    if (verdict.do !== "hold") return { verdict, came };
  }
  return { verdict: seam.end(), came };
}
