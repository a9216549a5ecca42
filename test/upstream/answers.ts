import type { Ask, WireName } from "../../src/core/ask.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { ModelFacts, Query } from "../../src/upstream/dialect.ts";

/** What a server answers, by `GET root /path` or `POST v1 /path`. A number is a bare status; a function sees the body. */
export type Answers = Readonly<Record<string, unknown>>;

export interface Answering {
  readonly query: Query;
  /** What was asked, in order. */
  readonly asked: { readonly at: string; readonly body: JsonObject | undefined }[];
}

/** A server that answers what is written down, and null (no answer) or `otherwise` to the rest. */
export function answering(answers: Answers, otherwise?: (at: string) => unknown): Answering {
  const asked: Answering["asked"] = [];
  const query: Query = (method, where, path, body) => {
    const at = `${method} ${where} ${path}`;
    asked.push({ at, body });
    const told = at in answers ? answers[at] : otherwise?.(at);
    const answer = typeof told === "function" ? told(body) : told;
    if (answer === undefined) return Promise.resolve(null);
    return Promise.resolve(
      typeof answer === "number"
        ? { status: answer, json: { error: { message: "no" } } }
        : { status: 200, json: answer },
    );
  };
  return { query, asked };
}

/** An ask of which only the wire and the body matter. */
export function ask(wire: WireName, body: JsonObject = {}): Ask {
  return {
    wire,
    body,
    model: "m",
    stream: true,
    cap: null,
    verbatim: true,
    unlimited: false,
    thinkingBudget: null,
    stop: [],
    tools: [],
    structured: null,
    wantsUsage: false,
    logprobs: false,
    n: 1,
    unhealable: null,
  };
}

/** The models of a discovery that came. */
export function modelsOf(found: unknown): readonly ModelFacts[] {
  if (typeof found !== "object" || found === null || !("models" in found)) throw new Error("no list came");
  return found.models as readonly ModelFacts[];
}

/** The window of the model that a request for `name` reaches: the first that bears the name. */
export function windowFor(found: unknown, name: string): number | null | undefined {
  return modelsOf(found).find((model) => model.names.includes(name))?.window;
}
