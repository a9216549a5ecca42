import type { Attempt } from "../../core/cut.ts";

/** Tokens of one request, live or ended. */
export interface Filling {
  readonly window: number | null;
  readonly promptTokens: number | null;
  readonly capSent: number | null;
  /** Of the reply so far. */
  readonly tokens: number;
  /** Reply tokens at each cut. */
  readonly cuts: readonly number[];
}

/** A window and what fills it, as shares of the bar (0 to 1). */
export interface Bar {
  readonly prompt: number;
  /** The reply, one piece a pass. */
  readonly pieces: readonly { readonly from: number; readonly to: number }[];
  /** `seam`: more of the reply stands behind the cut. */
  readonly marks: readonly { readonly at: number; readonly kind: "cut" | "seam" }[];
  /** Where the cap of the last pass lies; null: none was sent, or it is beyond the window. */
  readonly cap: number | null;
  /** Tokens left; null: the window is unknown, and the bar shows what is used. */
  readonly room: number | null;
}

export function barOf({ window, promptTokens, capSent, tokens, cuts }: Filling): Bar {
  const prompt = promptTokens ?? 0;
  const capEnd = capSent === null ? null : prompt + (cuts.at(-1) ?? 0) + capSent;
  const used = prompt + tokens;
  const whole = Math.max(window ?? Math.max(used, capEnd ?? 0), used, 1);
  const edges = [0, ...cuts, tokens].map((edge) => (prompt + Math.min(edge, tokens)) / whole);
  const pieces = edges.slice(1).map((to, at) => ({ from: edges[at] ?? 0, to }));
  return {
    prompt: prompt / whole,
    pieces: pieces.filter(({ from, to }) => to > from),
    marks: cuts.map((cut) => ({ at: (prompt + Math.min(cut, tokens)) / whole, kind: tokens > cut ? "seam" : "cut" })),
    cap: capEnd !== null && capEnd < whole ? capEnd / whole : null,
    room: window === null ? null : Math.max(0, window - used),
  };
}

/** Reply tokens at each cut of an ended request: as the upstream counted the passes, where it did, else as they were seen to flow. */
export function cutsOf(attempts: readonly Attempt[], seen: readonly number[]): readonly number[] {
  const kept = attempts.filter(({ result }) => result === "cut" || result === "broken");
  const counts = kept.map(({ completion_tokens }) => completion_tokens);
  if (counts.length !== seen.length || counts.includes(null)) return seen;
  let sum = 0;
  return counts.map((tokens) => {
    sum += tokens ?? 0;
    return sum;
  });
}
