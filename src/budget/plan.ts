import type { WireName } from "../core/ask.ts";
import type { Failure } from "../core/error.ts";
import type { Count } from "./count.ts";
import { inputTooLong, noRoom } from "./refusal.ts";

/** All in tokens. null: unknown, or not asked for. */
export interface PlanInput {
  readonly wire: WireName;
  /** null: not counted, because nothing hangs on it. */
  readonly count: Pick<Count, "tokens" | "bound" | "method" | "parts"> | null;
  readonly window: number | null;
  readonly source: string;
  /** The trained maximum: rejects prompts above it where the window is unknown. */
  readonly trained: number | null;
  readonly maxInput: number | null;
  readonly maxOutput: number | null;
  readonly asked: number | null;
  readonly thinkingBudget: number | null;
  /** The model is known to reason, and its reasoning is known to count against the cap. */
  readonly reasons: boolean;
  /** Nothing above the asked cap may be sent: it is meant, and lastword cannot end the visible text at it. */
  readonly binding: boolean;
  /** The server answers a prompt over its window with an error, rather than dropping messages in silence. */
  readonly overflowIsTold: boolean;
  readonly minReplyTokens: number;
  readonly reasoningAllowanceTokens: number;
  readonly honourCapsUpTo: number;
  /** What makes the window larger on this server, for people. */
  readonly fix: string;
}

type CapReason = "room" | "model_limit" | "allowance" | "none";

export type Planned =
  | {
      readonly do: "send";
      /** Tokens to send as the cap; null: as asked, which may be none. */
      readonly cap: number | null;
      readonly reason: CapReason;
      /** The thinking budget to send; null: as asked. */
      readonly thinkingBudget: number | null;
    }
  | { readonly do: "reject"; readonly failure: Failure };

/**
 * A bound wider than this share of the count says that the model is not known yet. To refuse by all of it would refuse what fits several
 * times over, and with it the replies from which the model could become known.
 */
const WIDEST_MARGIN = 0.25;
/** The least thinking budget that servers take (Anthropic). */
const LEAST_THINKING = 1024;

/**
 * What may be sent: `room = window - prompt - margin`. A cap above the room or the model's output limit is lowered, a reasoning model's is
 * raised by its allowance; a prompt that leaves no room for the least reply is rejected with its numbers. Never a cap below 1 or above the room.
 */
export function plan(input: PlanInput): Planned {
  const { window, maxInput, trained, asked, maxOutput, count } = input;
  const least = leastReply(input);
  const room = roomOf(input, least);
  if (count !== null) {
    const prompt = surely(count, input.overflowIsTold);
    if (maxInput !== null && prompt > maxInput) return { do: "reject", failure: inputTooLong(input, count, maxInput) };
    if (room !== null && window !== null && room < least)
      return { do: "reject", failure: noRoom(input, count, { window, room, least }) };
    if (window === null && trained !== null && prompt > trained)
      return { do: "reject", failure: noRoom(input, count, { window: trained, room: trained - count.tokens, least }) };
  }
  if (asked === null) return { do: "send", cap: null, reason: "none", thinkingBudget: null };
  const wanted = asked + allowanceOf(input, asked);
  const cap = Math.min(wanted, room ?? wanted, maxOutput ?? wanted);
  if (cap === asked) return { do: "send", cap: null, reason: "none", thinkingBudget: null };
  const reason = cap > asked ? "allowance" : cap === room ? "room" : "model_limit";
  return { do: "send", cap, reason, thinkingBudget: thinkingWithin(cap, input) };
}

/** Whether the truth, somewhere within the bound, decides what may be sent: then the server's own counter is worth its call. */
export function straddles(input: PlanInput): boolean {
  const { count } = input;
  if (count === null || count.method === "exact") return false;
  const at = (tokens: number) => plan({ ...input, count: { ...count, tokens, bound: 0, method: "exact" } });
  const low = at(count.method === "ceiling" ? 0 : Math.max(0, count.tokens - count.bound));
  const high = at(count.tokens + count.bound);
  if (low.do === "reject" || high.do === "reject") return low.do !== high.do;
  return low.cap !== high.cap;
}

/** Whether an upper limit of the prompt already proves that prompt and cap fit, so that nothing need be counted. */
export function fitsSurely(input: PlanInput): boolean {
  const { count } = input;
  const planned = plan(count === null ? input : { ...input, count: { ...count, method: "exact" } });
  return planned.do === "send" && planned.reason !== "room";
}

/** Tokens that a reply must have. Thinking, where it was asked for, comes on top: servers take no smaller budget. */
function leastReply({ asked, thinkingBudget, minReplyTokens }: PlanInput): number {
  if (asked === null) return minReplyTokens;
  const thinking = Math.min(thinkingBudget ?? 0, LEAST_THINKING, asked);
  // A cap of 0 asks for the prompt to be read; the window must still hold it.
  return Math.min(minReplyTokens, asked - thinking) + thinking;
}

/**
 * Tokens left for a reply; null: unknown. Where the server tells of an overflow, no request is refused for the count's own error:
 * the margin then gives way as far as the least reply, whose usage makes the next count exact. Where messages would be dropped
 * in silence, the margin stands.
 */
function roomOf({ window, count, overflowIsTold }: PlanInput, least: number): number | null {
  if (window === null || count === null) return null;
  const room = window - count.tokens - marginOf(count);
  return room >= least ? room : Math.max(room, Math.min(least, window - surely(count, overflowIsTold)));
}

type Counted = Pick<Count, "tokens" | "bound" | "method">;

/** Tokens kept free for the count's own error. */
function marginOf({ tokens, bound, method }: Counted): number {
  return method === "estimate" ? Math.min(bound, Math.ceil(tokens * WIDEST_MARGIN)) : bound;
}

/** The tokens of a prompt by which a request may be refused. */
function surely(count: Counted, overflowIsTold: boolean): number {
  if (!overflowIsTold) return count.tokens + marginOf(count);
  // An upper limit proves that a prompt fits, never that it does not.
  return count.method === "ceiling" ? 0 : count.tokens;
}

function allowanceOf(input: PlanInput, asked: number): number {
  const { reasons, binding, thinkingBudget, reasoningAllowanceTokens, honourCapsUpTo } = input;
  // Who sets a thinking budget has set the cap with it in mind.
  return reasons && !binding && thinkingBudget === null && asked > honourCapsUpTo ? reasoningAllowanceTokens : 0;
}

/** The thinking budget under a lowered cap: what the least reply leaves of it; null: as asked. */
function thinkingWithin(cap: number, { asked, thinkingBudget, minReplyTokens }: PlanInput): number | null {
  if (thinkingBudget === null || asked === null) return null;
  const reply = Math.min(minReplyTokens, Math.max(1, asked - thinkingBudget));
  return cap - reply >= thinkingBudget ? null : Math.max(1, cap - reply);
}
