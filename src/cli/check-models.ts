import type { Windows } from "../budget/window.ts";
import { continuationOf } from "../check/continuation.ts";
import type { SeenModel } from "../check/models.ts";
import { PROBE_PARTIAL, PROBE_PROMPT } from "../check/probe.ts";
import type { Config } from "../config/load.ts";
import { type Policy, policyFor } from "../config/policy.ts";
import { rendersRaw } from "../recovery/raw/resume.ts";
import type { Dialect, ModelFacts } from "../upstream/dialect.ts";
import type { Server } from "../upstream/server.ts";
import { chat } from "../wire/chat/chat.ts";
import type { Counting } from "./counting.ts";

/** What looking at models needs. */
export interface Eyes {
  readonly config: Config;
  readonly windows: Windows;
  readonly counting: Counting;
}

/** Models looked at together: each may cost a question. */
const AT_ONCE = 8;

interface Named {
  /** As clients call it. */
  readonly name: string;
  readonly policy: Policy;
  readonly ruled: boolean;
}

/** The models that requests can reach at this upstream: those that rules name in full, then those that it lists. */
export async function lookAtModels(
  server: Server,
  dialect: Dialect,
  listed: readonly ModelFacts[],
  eyes: Eyes,
): Promise<readonly SeenModel[]> {
  const seen: SeenModel[] = [];
  const names = [...reachable(server.name, listed, eyes.config).values()];
  for (let i = 0; i < names.length; i += AT_ONCE) {
    const some = names.slice(i, i + AT_ONCE);
    seen.push(...(await Promise.all(some.map((named) => lookAt(named, server, dialect, eyes)))));
  }
  return seen;
}

function reachable(upstream: string, listed: readonly ModelFacts[], config: Config): Map<string, Named> {
  const found = new Map<string, Named>();
  const add = (name: string, ruled: boolean) => {
    const policy = policyFor(config, name);
    if (policy.upstreams.some(({ name: serves }) => serves === upstream) && !found.has(name))
      found.set(name, { name, policy, ruled });
  };
  for (const { match } of config.models) if (!match.includes("*")) add(match, true);
  for (const { names } of listed) add(names[0] ?? "", false);
  return found;
}

async function lookAt(
  { name, policy, ruled }: Named,
  server: Server,
  dialect: Dialect,
  eyes: Eyes,
): Promise<SeenModel> {
  const { windows, counting } = eyes;
  const sent = policy.alias ?? name;
  const known = await windows.known(server, sent, policy, null);
  const facts = windows.listing(server, sent) ?? anyName(await windows.listed(server, null));
  const ask = chat.read({ model: sent, messages: [{ role: "user", content: PROBE_PROMPT }], stream: true });
  const resume = dialect.resume("chat", sent, ask);
  const loaded = facts !== null && !facts.provisional;
  const template = loaded && resume !== null ? await showsTemplate(server, dialect, sent, resume.set) : null;
  return {
    facts,
    ruled,
    template,
    report: {
      name,
      sent_as: sent,
      loaded,
      window: known.window,
      window_source: known.source,
      trained: known.trained,
      max_output: known.maxOutput,
      reasoning: policy.reasoning ?? facts?.reasoning ?? (known.reasoning ? true : null),
      continuation: continuationOf({
        policy,
        resume,
        raw: rendersRaw({ dialect, wire: chat, ask }),
        wellKnown: dialect.name !== "generic",
        template,
      }),
      counting: await counting.of(sent, dialect.count !== undefined),
    },
  };
}

/** A server with one model answers for it under any name. */
function anyName(listed: readonly ModelFacts[]): ModelFacts | null {
  return listed.length === 1 && listed[0]?.anyName === true ? listed[0] : null;
}

/** Whether the prompt that the server would make of a partial reply ends in it, so that the model can only go on; null: it does not tell. */
async function showsTemplate(
  server: Server,
  dialect: Dialect,
  model: string,
  set: NonNullable<ReturnType<Dialect["resume"]>>["set"],
): Promise<boolean | null> {
  const messages = [
    { role: "user", content: PROBE_PROMPT },
    { role: "assistant", content: PROBE_PARTIAL },
  ];
  const prompt = await dialect.render?.(server.query(), { model, messages, ...set });
  return typeof prompt === "string" ? prompt.trimEnd().endsWith(PROBE_PARTIAL) : null;
}
