import type { Finish, Usage } from "../core/part.ts";
import type { Shape, Validity } from "../core/proof.ts";
import { callsOf, type Reply, textOf } from "../core/reply.ts";
import { answerOf, thinkState } from "./think.ts";

/** What raw text and schema prove of one value. `validity` null: not asked yet; judged as unknown. */
export interface Proof {
  readonly shape: Shape;
  readonly validity: Validity | null;
}

/** How a pass ended, and all that is needed to judge it. */
export interface Pass {
  /** Everything received of this reply, over all passes. */
  readonly reply: Reply;
  /** This pass itself brought no output at all. */
  readonly silent: boolean;
  /** This pass's own finish and usage. */
  readonly finish: Finish | null;
  readonly usage: Usage | null;
  /**
   * Why nothing more is read. `terminal`: the wire's terminal event, or a plain body that is there in full; `eof`: the body ended without one;
   * `broken`: the connection was lost; `stalled`: silent for too long; `fault`: the upstream sent an error.
   */
  readonly end: "terminal" | "eof" | "broken" | "stalled" | "fault";
  /** The cap of this pass in tokens (null: none sent), and why it differs from what was wanted. */
  readonly cap: { readonly sent: number | null; readonly reason: "room" | "model_limit" | "allowance" | "none" };
  /** Tokens; null: unknown. `sure`: the server or the config says so, not a catalog. */
  readonly window: { readonly tokens: number | null; readonly sure: boolean };
  /** Our own counts, in tokens, for where the upstream tells none; null: none, or only an upper limit. */
  readonly counted: { readonly prompt: number | null; readonly completion: number | null };
  /** The server calls cut replies finished on this wire. */
  readonly hidesCuts: boolean;
  /** Joined from parts: only proof makes it whole, whatever the server says of its end. @default false */
  readonly mustProve?: boolean;
  /** One for every call of the turn, in order. */
  readonly calls: readonly Proof[];
  /** null: no format was asked for, or the turn calls tools instead. */
  readonly structured: Proof | null;
  /** The open JSON ends in whitespace or digits without end. */
  readonly looping: boolean;
}

/** Tokens by which usage may stay below the cap of a cut reply (LM Studio counts one too few). */
export const CAP_SLACK = 1;

export function atCap(pass: Pass): boolean {
  const completion = completionOf(pass);
  return completion !== null && pass.cap.sent !== null && completion >= pass.cap.sent - CAP_SLACK;
}

/** Known to stand below the cap, even if the reasoning were counted apart from the reply. */
export function belowCap(pass: Pass): boolean {
  const completion = completionOf(pass);
  if (completion === null || pass.cap.sent === null) return false;
  return completion + (pass.usage?.reasoning ?? 0) < pass.cap.sent - CAP_SLACK;
}

/** Tokens generated in this pass, as reported. Some servers report zeros for a reply that is there. */
export function completionOf({ usage, silent }: Pass): number | null {
  const tokens = usage?.completion ?? null;
  return tokens === 0 && !silent ? null : tokens;
}

/** Tokens of this pass's prompt, as reported. */
export function promptOf({ usage }: Pass): number | null {
  return usage?.prompt === 0 ? null : (usage?.prompt ?? null);
}

/** Anything but thought. */
export function hasAnswer(reply: Reply): boolean {
  return callsOf(reply).length > 0 || answerOf(textOf(reply)).trim() !== "";
}

/** Visible, sealed, written as text, or known only from the tokens that were paid for. */
export function hasReasoning(pass: Pass): boolean {
  const { reply } = pass;
  if (reply.blocks.some((block) => block.kind === "reasoning" && (block.sealed || block.text.trim() !== "")))
    return true;
  return (
    thinkState(textOf(reply)).state !== "none" || (pass.usage?.reasoning ?? 0) > 0 || (completionOf(pass) ?? 0) > 1
  );
}
