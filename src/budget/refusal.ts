import { type Facts, type Failure, failure } from "../core/error.ts";
import type { Count } from "./count.ts";
import type { PlanInput } from "./plan.ts";

type Prompt = Pick<Count, "tokens" | "bound" | "method" | "parts">;

/**
 * The prompt leaves less than the least reply. Clients recognise the first sentence and shorten their history; the cap is blamed
 * where a smaller one would have fitted.
 */
export function noRoom(
  { wire, asked, source, fix }: PlanInput,
  prompt: Prompt,
  { window, room, least }: { readonly window: number; readonly room: number; readonly least: number },
): Failure {
  const cap = room >= 1 ? asked : null;
  const left = Math.max(0, room);
  const asks = asked === null ? "no cap was asked for" : `${asked} were asked for`;
  const shorter = `make the prompt shorter by ${least - room} tokens`;
  const cures = [...(cap === null ? [] : [`ask for at most ${left}`]), ...(fix === "" ? [] : [fix])];
  return failure(
    "context_length_exceeded",
    `${wire === "messages" ? anthropicWords(prompt, window, cap) : openaiWords(prompt, window, cap)} ` +
      `The window is known from: ${source}. ${left} tokens of room are left, a reply needs at least ${least}, ${asks}. ` +
      `${howCounted(prompt)} To fix it: ${[shorter, ...cures].join(", or ")}.`,
    {
      ...factsOf(prompt),
      ...{ window, window_source: source, room: left, requested: asked, min_reply_tokens: least },
      over_by: least - room,
    },
    paramOf(wire, cap !== null),
  );
}

/** The prompt is above a limit for prompts that is below the window. */
export function inputTooLong({ wire, asked, window, source }: PlanInput, prompt: Prompt, limit: number): Failure {
  const over = Math.max(1, prompt.tokens - limit);
  const begins =
    wire === "messages"
      ? anthropicWords(prompt, limit, null)
      : `Input tokens exceed the configured limit of ${limit} tokens. Your messages resulted in ${prompt.tokens} tokens${breakdown(prompt)}.`;
  return failure(
    "context_length_exceeded",
    `${begins} ${howCounted(prompt)} To fix it: make the prompt shorter by ${over} tokens.`,
    { ...factsOf(prompt), window, window_source: source, max_input: limit, requested: asked, over_by: over },
    paramOf(wire, false),
  );
}

/** As OpenAI's API says it. */
function openaiWords(prompt: Prompt, window: number, cap: number | null): string {
  const most = `This model's maximum context length is ${window} tokens.`;
  return cap === null
    ? `${most} However, your messages resulted in ${prompt.tokens} tokens${breakdown(prompt)}. Please reduce the length of the messages.`
    : `${most} However, you requested ${prompt.tokens + cap} tokens (${prompt.tokens} in the messages, ${cap} in the completion). ` +
        "Please reduce the length of the messages or completion.";
}

/** As Anthropic's API says it. */
function anthropicWords({ tokens }: Prompt, window: number, cap: number | null): string {
  return cap === null
    ? `prompt is too long: ${tokens} tokens > ${window} maximum.`
    : `input length and \`max_tokens\` exceed context limit: ${tokens} + ${cap} > ${window}, decrease input length or \`max_tokens\` and try again.`;
}

function breakdown({ tokens, parts }: Prompt): string {
  const functions = parts.tools + parts.schema;
  return functions === 0 ? "" : ` (${tokens - functions} in the messages, ${functions} in the functions)`;
}

function howCounted({ method, bound }: Prompt): string {
  switch (method) {
    case "exact":
      return "The count is exact.";
    case "estimate":
      return `The count is an estimate, give or take ${bound}.`;
    case "ceiling":
      return "The count is an upper limit.";
    default:
      return method satisfies never;
  }
}

function paramOf(wire: PlanInput["wire"], byCap: boolean): string {
  switch (wire) {
    case "chat":
      return "messages";
    case "messages":
      return byCap ? "max_tokens" : "messages";
    case "responses":
      return "input";
    case "completions":
      return "prompt";
    default:
      return wire satisfies never;
  }
}

function factsOf({ tokens, bound, method, parts }: Prompt): Facts {
  return {
    prompt_tokens: tokens,
    count_method: method,
    count_bound: bound,
    message_tokens: parts.messages,
    tool_tokens: parts.tools,
    schema_tokens: parts.schema,
    image_tokens: parts.images,
  };
}
