import { prepareNudge } from "../../src/stitch/anchor.ts";
import { type Discard, openSeam, type Seam, type SeamVerdict } from "../../src/stitch/seam.ts";

/** What became of a pass. */
export interface Joined {
  readonly verdict: SeamVerdict;
  /** All text that the client has in the end; unchanged where the pass was discarded. */
  readonly text: string;
  readonly discarded: Discard | null;
  /** Units of the pass that had come when it was decided; its length where only its end decided. */
  readonly heldTo: number;
}

/** Plays a pass into a seam in these pieces. */
export function play(seam: Seam, sent: string, pieces: readonly string[]): Joined {
  let heldTo = 0;
  let verdict: SeamVerdict = { do: "hold" };
  for (const piece of pieces) {
    heldTo += piece.length;
    verdict = seam.push(piece);
    if (verdict.do !== "hold") break;
  }
  if (verdict.do === "hold") verdict = seam.end();
  if (verdict.do === "hold") throw new Error("an ended pass must be decided");
  if (verdict.do === "discard") return { verdict, text: sent, discarded: verdict.why, heldTo };
  return { verdict, text: sent + pieces.join("").slice(verdict.drop), discarded: null, heldTo };
}

/** Plays a pass whole and unit by unit: both must agree. */
function join(open: () => Seam, sent: string, pass: string): Joined {
  const whole = play(open(), sent, [pass]);
  const split = play(open(), sent, pass.split(""));
  if (JSON.stringify(whole.verdict) !== JSON.stringify(split.verdict))
    throw new Error(`whole ${JSON.stringify(whole.verdict)}, split ${JSON.stringify(split.verdict)}`);
  return split;
}

interface ResumeOptions {
  readonly sure?: boolean;
  readonly echo?: "never" | "plain" | "always";
  readonly trimmed?: string;
  readonly strategy?: "prefill" | "raw";
}

/** A pass of a server that resumes the same message; known to, unless told otherwise. */
export function resume(sent: string, pass: string, options: ResumeOptions = {}): Joined {
  const { sure = true, echo = "never", trimmed = "", strategy = "prefill" } = options;
  return join(() => openSeam({ strategy, sent, echo, trimmed, sure }), sent, pass);
}

/** The same of a server that is only believed to resume. */
export function believe(sent: string, pass: string, options: ResumeOptions = {}): Joined {
  return resume(sent, pass, { ...options, sure: false });
}

interface Asked {
  readonly partial: string;
  readonly seen: string;
  readonly anchor: string;
}

/** A pass that answers a nudge, as text or made from what the model is asked. */
export function nudge(sent: string, answer: string | ((asked: Asked) => string), after: Discard | null = null): Joined {
  const asked = prepareNudge(sent, after);
  const pass = typeof answer === "string" ? answer : answer(asked);
  return join(() => openSeam({ strategy: "nudge", sent, anchor: asked.anchor, seen: asked.seen }), sent, pass);
}

/** Nudges as the runner does: once more after a discard. A `model` that knows the whole reply answers. */
export function nudgeTwice(sent: string, model: (asked: Asked) => string): Joined & { readonly tries: number } {
  const first = nudge(sent, model);
  if (first.discarded === null) return { ...first, tries: 1 };
  return { ...nudge(sent, model, first.discarded), tries: 2 };
}

/** Models that know the whole reply. */
export function goesOn(whole: string): (asked: Asked) => string {
  return ({ partial }) => whole.slice(partial.length);
}

export function obeys(whole: string): (asked: Asked) => string {
  return ({ partial, anchor }) => anchor + whole.slice(partial.length);
}

/** Begins again where `from` last stands in what it was shown. */
export function repeatsFrom(whole: string, from: string): (asked: Asked) => string {
  return ({ partial }) => whole.slice(partial.lastIndexOf(from));
}
