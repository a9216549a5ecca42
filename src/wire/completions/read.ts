import type { Ask, Piece } from "../../core/ask.ts";
import { asNumber, asString, type JsonObject } from "../../core/json.ts";
import { invalid, readCap, readCount, readStop, readStructured, readUsageWish } from "../openai/fields.ts";
import { text } from "../pieces.ts";
import { type Prompt, readPrompt } from "./prompt.ts";

/** @throws Refused where the prompt or a cap has the wrong type */
export function read(body: JsonObject): Ask {
  const prompt = promptOf(body);
  const n = readCount(body.n);
  return {
    wire: "completions",
    body,
    model: asString(body.model) ?? "",
    stream: body.stream === true,
    ...readCap(body, 0),
    thinkingBudget: null,
    stop: readStop(body.stop),
    tools: [],
    structured: readStructured(body.response_format),
    wantsUsage: readUsageWish(body),
    logprobs: wantsLogprobs(body),
    n,
    unhealable: unhealable(body, prompt, n),
  };
}

/** Only the words of a prompt cost tokens here: there is no template. */
export function pieces(body: JsonObject): Piece[] {
  const ofPrompt = (prompt: Prompt): Piece[] => {
    switch (prompt.kind) {
      case "text":
        return [text("user", prompt.text)];
      case "tokens":
        return [prompt];
      case "several":
        return prompt.prompts.flatMap(ofPrompt);
      default:
        return prompt satisfies never;
    }
  };
  const suffix = asString(body.suffix) ?? "";
  return [...ofPrompt(promptOf(body)), ...(suffix === "" ? [] : [text("user", suffix)])];
}

function promptOf(body: JsonObject): Prompt {
  const prompt = readPrompt(body.prompt);
  if (prompt === null) throw invalid("prompt", "prompt must be a string, token ids, or a list of either");
  return prompt;
}

/** A number of alternatives per token; 0 still asks for the chosen ones. */
function wantsLogprobs(body: JsonObject): boolean {
  return body.logprobs === true || asNumber(body.logprobs) !== undefined;
}

function unhealable(body: JsonObject, prompt: Prompt, n: number): string | null {
  if (n > 1) return "n";
  if (prompt.kind === "several") return "several prompts";
  // Text cannot be put behind token ids, and there are no turns in which to ask for the rest.
  if (prompt.kind === "tokens") return "token prompt";
  if ((asString(body.suffix) ?? "") !== "") return "suffix";
  if ((asNumber(body.best_of) ?? 1) > 1) return "best_of";
  return body.echo === true && wantsLogprobs(body) ? "echo with logprobs" : null;
}
