import { type Diagnosis, diagnose, whereOf } from "./cause.ts";
import { atCap, hasAnswer, hasReasoning, type Pass, type Proof } from "./pass.ts";
import type { Where } from "./state.ts";

export type Verdict =
  /** `odd` is worth a log line and never a further pass: usage at the cap, or nothing but reasoning, though the server says that it was done. */
  | { readonly kind: "whole"; readonly odd: "at_cap" | "reasoning_only" | null }
  | (Diagnosis & {
      readonly kind: "cut";
      readonly where: Where;
      /** More tokens would bring more of the same. */
      readonly looping: boolean;
    })
  /** Ended by itself, below the cap, and is not what was asked for. */
  | { readonly kind: "malformed"; readonly what: "tool" | "structured" }
  /** A stream that ended, without a finish, with nothing at all. */
  | { readonly kind: "nothing" }
  /** Ended by a filter, or by the wire's own protocol for going on: passed on as it is, never continued. A half call in it is still not delivered. */
  | { readonly kind: "stopped"; readonly by: "filter" | "pause"; readonly halfCall: boolean }
  /** The upstream's error, in place of an end: a matter of retries, not of caps. */
  | { readonly kind: "failed" };

/** Which values must be validated before `judge` can tell: indices of calls, and whether the structured reply. */
export function needs(pass: Pass): { readonly calls: readonly number[]; readonly structured: boolean } {
  const none = { calls: [], structured: false };
  if (endedOtherwise(pass) !== null) return none;
  const signal = signalOf(pass);
  if (pass.calls.length > 0) {
    const hopeless = pass.calls.some(({ shape }) => shape === "open" || (signal !== null && shape !== "closed"));
    if (hopeless || signal === "lost") return none;
    const calls = [...pass.calls.keys()].filter((i) => isValue(pass.calls[i]) && pass.calls[i]?.validity === null);
    return { calls, structured: false };
  }
  const { structured } = pass;
  const provable = structured?.shape === "closed" || (structured?.shape === "bare" && signal === null);
  return { calls: [], structured: provable && structured.validity === null };
}

/**
 * How the pass ended. A reply is cut only by a hard signal: the finish reason says so; the stream ended with neither finish nor
 * terminal event; a call's arguments stop in the middle; or usage stands at the cap while the JSON is visibly open, or the server is known to
 * hide cuts. Text that merely looks unfinished is whole. What its own raw text proves whole is whole, whatever the finish reason says.
 */
export function judge(pass: Pass): Verdict {
  const otherwise = endedOtherwise(pass);
  if (otherwise !== null) return otherwise;
  const signal = signalOf(pass);
  if (signal !== null || pass.mustProve === true)
    return provenWhole(pass, signal) ? { kind: "whole", odd: null } : cut(pass, signal);
  if (pass.calls.length > 0) return judgeCalls(pass);
  if (pass.structured !== null) return judgeStructured(pass, pass.structured);
  const odd = !hasAnswer(pass.reply) && hasReasoning(pass) ? "reasoning_only" : atCap(pass) ? "at_cap" : null;
  return { kind: "whole", odd };
}

/** Ends that are neither natural nor a cut. */
function endedOtherwise(pass: Pass): Verdict | null {
  const { finish, end } = pass;
  if (finish?.kind === "filter" || finish?.kind === "pause")
    return {
      kind: "stopped",
      by: finish.kind,
      halfCall: pass.calls.some(({ shape }) => shape !== "closed" && shape !== "bare"),
    };
  if (finish?.kind === "error" || (finish === null && end === "fault")) return { kind: "failed" };
  const isOver = end === "eof" || end === "terminal";
  return finish === null && isOver && pass.silent ? { kind: "nothing" } : null;
}

/** `said`: by the finish reason; `lost`: the stream ended before its end; `hidden`: at the cap of a server that hides cuts. */
type Signal = "said" | "lost" | "hidden";

function signalOf(pass: Pass): Signal | null {
  const { finish } = pass;
  if (finish?.kind === "cap" || finish?.kind === "window") return "said";
  if (finish === null && pass.end !== "terminal") return "lost";
  return pass.hidesCuts && atCap(pass) ? "hidden" : null;
}

/**
 * Proof from the raw text: closed by the model itself, parsing, and satisfying the schema. Calls prove nothing where the stream was lost,
 * since a further call may have been due, nor where text came after them.
 */
function provenWhole(pass: Pass, signal: Signal | null): boolean {
  if (pass.calls.length > 0)
    return signal !== "lost" && pass.reply.blocks.at(-1)?.kind === "tool" && pass.calls.every(isProven);
  return pass.structured !== null && isProven(pass.structured);
}

/** Calls of a turn that the server calls done. */
function judgeCalls(pass: Pass): Verdict {
  const { calls } = pass;
  const unfinished = ({ shape, validity }: Proof) => shape === "open" || (shape === "empty" && validity === "invalid");
  const wrong = ({ shape, validity }: Proof) => shape === "broken" || validity === "invalid";
  // At the cap, no end is natural: a value that is wrong was cut, and an empty one may have been.
  const doubtful = (call: Proof) => wrong(call) || (call.shape === "empty" && call.validity !== "valid");
  if (calls.some(unfinished) || (atCap(pass) && calls.some(doubtful))) return cut(pass, null);
  return calls.some(wrong) ? { kind: "malformed", what: "tool" } : { kind: "whole", odd: null };
}

/** A structured reply that the server calls done. */
function judgeStructured(pass: Pass, { shape, validity }: Proof): Verdict {
  if (shape === "open" && atCap(pass)) return cut(pass, null);
  const good = (shape === "closed" || shape === "bare") && validity !== "invalid";
  return good ? { kind: "whole", odd: null } : { kind: "malformed", what: "structured" };
}

function isProven({ shape, validity }: Proof): boolean {
  return shape === "closed" && validity === "valid";
}

/** No arguments at all stand for `{}`, so they can be validated too. */
function isValue(proof: Proof | undefined): boolean {
  return proof?.shape === "closed" || proof?.shape === "empty";
}

function cut(pass: Pass, signal: Signal | null): Verdict {
  return { kind: "cut", ...diagnose(pass, signal === "lost"), where: whereOf(pass), looping: pass.looping };
}
