import type { DialectName, Query } from "./dialect.ts";
import { hostOf } from "./generic/hosts.ts";
import { dialects } from "./index.ts";

/** `answered` false: nobody was there, so the name says nothing and is to be found out later. */
export interface Detected {
  readonly dialect: DialectName;
  readonly answered: boolean;
}

/** Asked in this order; the first whose shape it is. */
const BY_SHAPE = ["llamacpp", "ollama", "vllm", "openrouter"] as const;

/**
 * What a server speaks, by the shape of its answers and never by their status: LM Studio answers 200 to anything.
 * Hosted services are known by name and asked nothing. Generates nothing. LM Studio is asked first and alone, for it logs
 * every question that it does not know; the others are asked together, so that a silent server costs two timeouts at most.
 */
export async function detect(query: Query, base: URL): Promise<Detected> {
  const named = byHost(base.hostname.toLowerCase());
  if (named !== null) return { dialect: named, answered: true };
  let answered = false;
  const once = new Map<string, ReturnType<Query>>();
  const asked: Query = (method, where, path, body) => {
    const key = `${method} ${where} ${path}`;
    const answer = once.get(key) ?? query(method, where, path, body);
    once.set(key, answer);
    return answer.then((told) => {
      answered ||= told !== null;
      return told;
    });
  };
  if (await dialects.lmstudio.detect(asked, base)) return { dialect: "lmstudio", answered: true };
  const verdicts = await Promise.all(BY_SHAPE.map((name) => dialects[name].detect(asked, base)));
  const dialect = BY_SHAPE.find((_name, i) => verdicts[i] === true) ?? "generic";
  return { dialect, answered };
}

function byHost(host: string): DialectName | null {
  if (host === "openrouter.ai" || host.endsWith(".openrouter.ai")) return "openrouter";
  if (host === "api.openai.com" || host.endsWith(".api.openai.com")) return "openai";
  return hostOf(host) === null ? null : "generic";
}
