import { type Nudged, NudgedSeam } from "./nudged.ts";
import { ResumedSeam, type Resumption } from "./resumed.ts";
import type { Seam } from "./verdict.ts";

export { type Discard, lessonOf, type Seam, type SeamVerdict } from "./verdict.ts";

/** Opens the joint between the text so far and a pass that has just been sent. */
export function openSeam(options: Resumption | Nudged): Seam {
  return options.strategy === "nudge" ? new NudgedSeam(options) : new ResumedSeam(options);
}
