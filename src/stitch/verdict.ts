/** Why a pass cannot be joined. Nothing of it is given to the client. */
export type Discard =
  /** It neither begins with the anchor nor with anything that could be aligned. */
  | "no_alignment"
  /** It can be read in more than one way: as a repeat, or as text that rightly repeats. */
  | "ambiguous"
  /** It goes on as if from the very end, though it was not shown that. */
  | "ahead"
  /** It wrote something else where the client has text already. */
  | "diverged"
  /** It began anew and tells it differently. */
  | "restart_diverged"
  /** Two words without a space between them, on a server that is not known to resume. */
  | "glued"
  /** It only speaks about the cut. */
  | "comment_only"
  | "language"
  /** It repeats itself at once. */
  | "loop";

export type SeamVerdict =
  | { readonly do: "hold" }
  | {
      readonly do: "release";
      /** Units to drop from the start of the new pass's text; everything after them flows. */
      readonly drop: number;
      /** Units of the text so far that came again. */
      readonly overlap: number;
      readonly how: Joint;
    }
  | { readonly do: "discard"; readonly why: Discard };

/** How a joint was decided. */
export type Joint =
  /** Plain concatenation, the pass being trusted to resume. */
  | "plain"
  /** Plain concatenation where the joint itself shows that the message was resumed. */
  | "resumed"
  /** The given text came back in front, as it was sent. */
  | "echo"
  | "anchor"
  /** It went straight on from the end of what it was shown. */
  | "straight"
  | "overlap"
  | "restart"
  /** The pass brought nothing at all. */
  | "nothing";

/**
 * Decides how the head of a pass joins the text so far. Fed with the pass's text as it comes, until the first verdict that is not `hold`.
 * However the text is split, verdict and `drop` are the same.
 */
export interface Seam {
  push(text: string): SeamVerdict;
  /** The pass ended undecided. Never `hold`. */
  end(): SeamVerdict;
}

/**
 * What a verdict teaches of a server that is believed to resume the same message; null: nothing for certain. A repeat that could be
 * aligned was joined well, and yet shows that a new turn was opened.
 */
export function lessonOf(verdict: SeamVerdict): "works" | "ignored" | null {
  switch (verdict.do) {
    case "hold":
      return null;
    case "release":
      if (verdict.how === "resumed" || verdict.how === "echo") return "works";
      return verdict.how === "restart" || verdict.how === "overlap" ? "ignored" : null;
    case "discard":
      return verdict.why === "restart_diverged" || verdict.why === "comment_only" ? "ignored" : null;
    default:
      return verdict satisfies never;
  }
}

export const HOLD: SeamVerdict = { do: "hold" };

export function discard(why: Discard): SeamVerdict {
  return { do: "discard", why };
}
