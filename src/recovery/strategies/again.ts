import type { Job } from "../job.ts";
import type { Sending } from "../state.ts";
import { AS_ASKED, type Join } from "./join.ts";
import { oneCall } from "./tools.ts";

/** Hidden orders beside a turn that is asked again. */
const HINTS = {
  smaller:
    "The tool call that you wanted to make is too large to be written in one message. Make it in smaller pieces: now a call with the first piece only, the rest in calls of later turns.",
  repair:
    "Your last answer to this was not valid against the required schema. Answer again, whole and valid, and with nothing else.",
} as const satisfies Record<NonNullable<Sending["hint"]>, string>;

/** The client's own turn once more. @param several the turn that was cut made more than one call */
export function again(job: Job, { hint, strategy }: Pick<Sending, "hint" | "strategy">, several: boolean): Join {
  return {
    ...AS_ASKED,
    set: strategy === "reask" && several ? oneCall(job) : {},
    ...(hint === null ? {} : { how: "hint" as const, nudge: HINTS[hint] }),
  };
}
