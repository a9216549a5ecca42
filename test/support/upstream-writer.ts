import type { WireName } from "../../src/core/ask.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import type { Act, Script, Tokens } from "./upstream-script.ts";

/** What a writer knows of the call that it answers. */
export interface Scene {
  readonly dialect: DialectName;
  readonly wire: WireName;
  readonly model: string;
  /** Number of the call, 1 for the first: ids and `created` come from it. */
  readonly n: number;
  readonly includeUsage: boolean;
  readonly script: Script;
}

/** Acts that have a shape of their own on every wire. */
export type Speech = Extract<Act, { act: "say" | "think" | "tool" | "role" | "finish" | "usage" | "done" }>;

/** Writes one call's acts in the wire's shapes. */
export interface Writer {
  /** Whole SSE events; none where the act is silent on this wire. */
  write(act: Speech): string[];
  /** The same script as one body. */
  plain(): JsonObject;
}

/** Seconds; the first call's `created` is this plus one. */
export const EPOCH = 1_760_000_000;

/** What a script says in all, for plain bodies and terminal events. */
export interface Summary {
  text: string;
  reasoning: string;
  tools: { id: string; name: string; args: string }[];
  reason: string | null;
  native: string | null;
  tokens: Tokens | null;
}

export function summary(script: Script, choice = 0): Summary {
  const all: Summary = { text: "", reasoning: "", tools: [], reason: null, native: null, tokens: null };
  for (const act of script) {
    if (act.act === "say" && act.choice === choice) all.text += act.text;
    if (act.act === "think") all.reasoning += act.text;
    if (act.act === "usage") all.tokens = act.usage;
    if (act.act === "finish" && act.choice === choice) {
      all.text += act.text;
      all.reason = act.reason;
      all.native = act.native;
    }
    if (act.act === "tool") {
      const known = all.tools[act.index] ?? { id: "", name: "", args: "" };
      all.tools[act.index] = {
        id: known.id + act.id,
        name: known.name + act.name,
        args: known.args + act.args,
      };
    }
  }
  all.tools = all.tools.filter(() => true); // closes holes of skipped indexes
  return all;
}

/** The choices that a script speaks in. */
export function choicesOf(script: Script): number[] {
  const indexes = new Set([0]);
  for (const act of script) if (act.act === "say" || act.act === "finish") indexes.add(act.choice);
  return [...indexes].sort((a, b) => a - b);
}
