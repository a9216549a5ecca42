import type { Policy } from "../config/policy.ts";
import { waysOf } from "../recovery/decide.ts";
import type { Way } from "../recovery/state.ts";
import type { Resume } from "../upstream/dialect.ts";
import type { ProbeReport } from "./report.ts";

/** How a cut reply of a model goes on, and how that is known. */
export interface Continuation {
  /** Best first; empty: cut replies are not continued. */
  readonly ways: readonly Way[];
  /**
   * - `config`: by order; `documented`: the server is known for it; `learned`: a probe has shown it
   * - `template`: the server has shown the prompt that it would make of it
   * - `unknown`: tried with the first cut, and told by how that goes on
   */
  readonly known_by: "config" | "documented" | "learned" | "template" | "unknown";
}

interface Evidence {
  readonly policy: Pick<Policy, "continue" | "heal">;
  /** How the server is made to go on with its own message; null: it cannot. */
  readonly resume: Resume | null;
  /** The server renders its own template, so that a turn can be resumed on the completion endpoint. */
  readonly raw: boolean;
  /** It is known what the server is; false: any that speaks the wires. */
  readonly wellKnown: boolean;
  /** The prompt that the server would make ends in the partial reply; null: not shown. */
  readonly template: boolean | null;
}

export function continuationOf(evidence: Evidence): Continuation {
  const { policy, resume, raw } = evidence;
  if (!policy.heal) return { ways: [], known_by: "config" };
  return { ways: waysOf(policy.continue, { prefill: resume !== null, raw }), known_by: knownBy(evidence) };
}

function knownBy({ policy, resume, wellKnown, template }: Evidence): Continuation["known_by"] {
  if (policy.continue !== "auto") return "config";
  if (resume === null) return wellKnown ? "documented" : "unknown";
  if (template !== null) return template ? "template" : "unknown";
  return resume.sure ? "documented" : "unknown";
}

/** The same after a request that ended in a partial reply. */
export function afterProbe(before: Continuation, { trailing_message: trailing }: ProbeReport): Continuation {
  if (before.known_by === "config" || trailing === "untold" || trailing === "not_tried") return before;
  const raw = before.ways.includes("raw");
  return { ways: waysOf("auto", { prefill: trailing === "resumed", raw }), known_by: "learned" };
}
