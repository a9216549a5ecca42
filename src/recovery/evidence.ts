import type { Ask } from "../core/ask.ts";
import type { Shape, Validity } from "../core/proof.ts";
import { type Block, callsOf, textOf } from "../core/reply.ts";
import { jsonState, shapeOf } from "../stitch/json.ts";
import { constraintLoop } from "../stitch/loops.ts";
import type { Pass, Proof } from "./pass.ts";
import { answerOf } from "./think.ts";
import { judge, needs, type Verdict } from "./verdict.ts";

/** Validates a JSON text against a client's schema, off the event loop. */
export type Validate = (schema: unknown, text: string) => Promise<Validity>;

export type PassFacts = Omit<Pass, "calls" | "structured" | "looping">;

/**
 * Gathers what the raw text proves, has validated what must be, and judges the pass. A schema is looked at only for a call or a
 * structured reply that reads as whole.
 */
export async function verdictOf(ask: Ask, facts: PassFacts, validate: Validate): Promise<Verdict> {
  const pass: Pass = { ...facts, ...examine(ask, facts) };
  const wanted = needs(pass);
  const calls = [...pass.calls];
  for (const index of wanted.calls) {
    const { text, name } = callsOf(pass.reply)[index] ?? { text: "", name: "" };
    const proof = pass.calls[index];
    // No arguments at all stand for `{}`: the wires send none for a tool that takes none.
    const validity = await validate(toolOf(ask, name)?.schema, text.trim() === "" ? "{}" : text);
    if (proof !== undefined) calls[index] = { ...proof, validity };
    if (validity === "invalid") break;
  }
  if (!wanted.structured || pass.structured === null || ask.structured?.kind !== "json_schema")
    return judge({ ...pass, calls });
  const validity = await validate(ask.structured.schema, answerOf(textOf(pass.reply)));
  return judge({ ...pass, calls, structured: { ...pass.structured, validity } });
}

function examine(ask: Ask, { reply }: PassFacts): Pick<Pass, "calls" | "structured" | "looping"> {
  const calls = callsOf(reply);
  const answer = ask.structured !== null && calls.length === 0 ? answerOf(textOf(reply)) : null;
  const json = answer ?? calls.at(-1)?.text ?? null;
  return {
    calls: calls.map((call) => callProof(ask, call)),
    structured: answer === null ? null : structuredProof(ask, answer),
    looping: json !== null && constraintLoop(jsonState(json)) !== null,
  };
}

function callProof(ask: Ask, call: Block): Proof {
  const tool = toolOf(ask, call.name);
  if (tool?.freeform === true) return { shape: "bare", validity: "valid" };
  return { shape: shapeOf(call.text), validity: tool?.schema === undefined ? "valid" : null };
}

function structuredProof(ask: Ask, answer: string): Proof {
  const shape: Shape = shapeOf(answer);
  if (ask.structured?.kind !== "json_object") return { shape, validity: null };
  return { shape, validity: answer.trimStart().startsWith("{") ? "valid" : "invalid" };
}

function toolOf(ask: Ask, name: string): Ask["tools"][number] | undefined {
  return ask.tools.find((tool) => tool.name === name);
}
