import { type Reply, textOf } from "../../core/reply.ts";
import { prepareNudge } from "../../stitch/anchor.ts";
import { type Discard, openSeam } from "../../stitch/seam.ts";
import { AS_ASKED, type Join } from "./join.ts";

/** The partial reply and a hidden turn that asks to go on. @param after why the last answer to a nudge could not be joined */
export function nudge(known: Reply, after: Discard | null): Join {
  const text = textOf(known);
  if (text === "") return AS_ASKED;
  const { partial, instruction, anchor, seen } = prepareNudge(text, after);
  return {
    ...AS_ASKED,
    how: "nudge",
    partial: { text: partial, reasoning: "" },
    nudge: instruction,
    seam: openSeam({ strategy: "nudge", sent: text, anchor, seen }),
  };
}
