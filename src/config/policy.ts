import type { WireName } from "../core/ask.ts";
import type { Config } from "./load.ts";
import type { FileConfig } from "./schema.ts";
import type { Upstream } from "./upstream.ts";

type Budget = Readonly<FileConfig["budget"]>;
type Recovery = Readonly<Omit<FileConfig["recovery"], "caps">>;
type Rule = FileConfig["models"][number];

export type Caps = "advisory" | "strict";

/** All that the configuration says of one model, merged: its rule over `budget` and `recovery`. */
export interface Policy extends Budget, Recovery {
  readonly upstream: Upstream;
  /** All that serve it, the first of them `upstream`. */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
  /** Name to send upstream in place of the one asked for; null: as asked. */
  readonly alias: string | null;
  /** Tokens; null: to be discovered. */
  readonly window: number | null;
  /** Tokens; null: to be discovered. */
  readonly maxOutput: number | null;
  /** null: to be found out. */
  readonly reasoning: boolean | null;
  readonly continue: Rule["continue"];
  /** null: not set, so that the wire decides. */
  readonly caps: Caps | null;
}

interface Policies {
  readonly rules: readonly { readonly match: string; readonly policy: Policy }[];
  readonly fallback: Policy;
  /** By model name. Names come from clients, so it is emptied when it has grown to `MOST_REMEMBERED`. */
  readonly known: Map<string, Policy>;
}

const MOST_REMEMBERED = 1000;
/** Characters; longer names are looked up anew each time rather than kept. */
const LONGEST_REMEMBERED = 256;

/** A config is never changed, so its policies are made once. */
const made = new WeakMap<Config, Policies>();

/** The policy of the model that a client asked for ("" where it named none). The same object for the same rule. */
export function policyFor(config: Config, model: string): Policy {
  let policies = made.get(config);
  if (policies === undefined) {
    policies = makePolicies(config);
    made.set(config, policies);
  }
  const known = policies.known.get(model);
  if (known !== undefined) return known;
  const policy = policies.rules.find((rule) => matches(rule.match, model))?.policy ?? policies.fallback;
  if (model.length <= LONGEST_REMEMBERED) {
    if (policies.known.size >= MOST_REMEMBERED) policies.known.clear();
    policies.known.set(model, policy);
  }
  return policy;
}

/** Autocomplete and evaluations mean their caps, and they are what speaks `/v1/completions`. */
export function capsFor(policy: Policy, wire: WireName): Caps {
  return policy.caps ?? (wire === "completions" ? "strict" : "advisory");
}

function makePolicies(config: Config): Policies {
  const rules = config.models.map((rule) => ({ match: rule.match, policy: policyOf(config, rule) }));
  return { rules, fallback: policyOf(config, { match: "*", continue: "auto" }), known: new Map() };
}

function policyOf(config: Config, rule: Rule): Policy {
  const { match: _, upstream, alias, window, maxOutput, reasoning, caps, ...own } = rule;
  const names = typeof upstream === "string" ? [upstream] : (upstream ?? []);
  const named = names.flatMap((name) => config.upstreams.find((one) => one.name === name) ?? []);
  const [serves = config.upstreams[0], ...others] = named;
  if (serves === undefined) throw new Error("a config has at least one upstream");
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) as Partial<Policy>;
  return {
    ...config.budget,
    ...config.recovery,
    continue: rule.continue,
    ...set,
    upstream: serves,
    upstreams: [serves, ...others],
    alias: alias ?? null,
    window: window ?? null,
    maxOutput: maxOutput ?? null,
    reasoning: reasoning ?? null,
    caps: caps ?? config.recovery.caps ?? null,
  };
}

/** `*` stands for any characters, also none. Linear in both lengths: names come from clients. */
function matches(pattern: string, name: string): boolean {
  const pieces = pattern.split("*");
  const head = pieces.shift() ?? "";
  const tail = pieces.pop();
  if (tail === undefined) return name === head;
  if (!name.startsWith(head) || name.length < head.length + tail.length || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let at = head.length;
  for (const piece of pieces) {
    const found = name.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
