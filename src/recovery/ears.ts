import type { Part } from "../core/part.ts";
import type { Discard } from "../stitch/seam.ts";

/**
 * What the plain text of a pass stands for, where it is not the reply's text: the rest of a call's arguments, or a turn in the
 * template's own markup. Fed with the text as it comes.
 */
export interface Ears {
  /** What this text says. */
  hear(text: string): Part[];
  /** The pass has ended: what was held back until then. */
  end(): Part[];
  /** Nothing more is wanted of the pass. */
  readonly done: boolean;
  /** Why the pass cannot be joined. */
  readonly discard: Discard | null;
  /** It makes a call that cannot be read: the turn must be asked again. */
  readonly lost: boolean;
  /** Characters of the pass that came again and were dropped. */
  readonly seam: { readonly overlap: number; readonly dropped: number } | null;
}
