import { type Reply, textOf } from "../../core/reply.ts";
import { openSeam } from "../../stitch/seam.ts";
import type { Job } from "../job.ts";
import { openThought } from "../think.ts";
import { AS_ASKED, type Join } from "./join.ts";

/** The partial reply as the last assistant message, which the server goes on with. @param proven it was seen to */
export function prefill(job: Job, known: Reply, proven: boolean): Join {
  const resume = job.dialect.resume(job.wire.name, job.ask.model, job.ask);
  if (resume === null) return AS_ASKED;
  const text = textOf(known);
  const reasoning = openThought(known);
  const thought = text === "";
  const trimmed = resume.trimsTail && !thought ? (/\s*$/.exec(text)?.[0] ?? "") : "";
  return {
    ...AS_ASKED,
    how: "resume",
    partial: {
      text: thought ? "" : text.slice(0, text.length - trimmed.length),
      reasoning: thought || resume.thoughts ? reasoning : "",
    },
    mark: resume.mark,
    set: thought ? resume.setThought : resume.set,
    seam: openSeam({
      strategy: "prefill",
      sent: thought ? reasoning : text,
      trimmed,
      echo: resume.echo === "plain" && job.ask.stream ? "never" : resume.echo,
      sure: resume.sure || proven,
    }),
    channel: thought ? "reasoning" : "text",
    unproven: !resume.sure && !proven,
    path: resume.path === undefined ? null : job.server.root + resume.path,
  };
}
