import type { Block } from "../../core/reply.ts";
import { prepareNudge } from "../../stitch/anchor.ts";
import { type Discard, openSeam } from "../../stitch/seam.ts";
import { CarriedEars } from "../carried.ts";
import type { Job } from "../job.ts";
import { AS_ASKED, type Join } from "./join.ts";
import { noCalls, TOOL_FIELDS } from "./tools.ts";

/**
 * The arguments of a cut call, shown to the model as text that it is to carry on.
 *
 * @param calls of the turn so far, the last one open
 * @param after why the last answer could not be joined
 * @param refused fields that this server does not take
 */
export function carry(
  job: Job,
  calls: readonly Block[],
  after: Discard | null,
  refused: readonly string[],
): Join | null {
  const call = calls.at(-1);
  if (call === undefined || call.text.trim() === "") return null;
  const { partial, instruction, anchor, seen } = prepareNudge(call.text, after);
  const choice = noCalls(job);
  // Where it is not heeded, the model is shown no tools at all.
  const hidden = Object.keys(choice).some((field) => refused.includes(field));
  return {
    ...AS_ASKED,
    how: "nudge",
    partial: { text: partial, reasoning: "" },
    nudge: `${orders(call.name)}\n\n${instruction}`,
    set: hidden ? {} : choice,
    without: hidden ? [...TOOL_FIELDS] : [],
    channel: "call",
    ears: new CarriedEars(call, () => openSeam({ strategy: "nudge", sent: call.text, anchor, seen })),
    calls,
  };
}

function orders(name: string): string {
  return `Your last message is the beginning of the arguments, one JSON object, for a call of the tool "${name}". Do not call a tool now: write the rest of that JSON as plain text, escaped as it must be inside of JSON strings, and stop where the object is closed.`;
}
