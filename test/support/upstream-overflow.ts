import type { JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { done, errorData, errorEvent, event, finish, raw, type Script, say, status } from "./upstream-script.ts";

const openaiError = (message: string, param: string | null, code: string | null): Script => [
  status(400, { error: { message, type: "invalid_request_error", param, code } }),
];
const vllmError = (message: string, param: string | null = null): Script => [
  status(400, { error: { message, type: "BadRequestError", param, code: 400 } }),
];
/** LM Studio's in-stream error holds its message twice. */
const lmstudioEvent = (message: string): Script => [errorEvent({ error: { message }, message })];
const llamaError = (p: number, c: number): JsonObject => ({
  error: {
    code: 400,
    message: `request (${p} tokens) exceeds the available context size (${c} tokens), try increasing it`,
    type: "exceed_context_size_error",
    n_prompt_tokens: p,
    n_ctx: c,
  },
});
const fit = (p: number, c: number) =>
  `Input does not fit in context length. The input has ${p} tokens, but the context length only supports ${c} tokens.`;

/**
 * How servers say that a request is over their window, in their own words. `p` prompt tokens, `c` window, `o` asked output,
 * `m` output maximum. Each is the script of one call.
 */
export const overflow = {
  lmstudio: {
    A: (p: number, c: number): Script => [
      status(400, {
        error: `Trying to keep the first ${p} tokens when context the overflows. However, the model is loaded with context length of only ${c} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input. Error Data: n/a, Additional Data: n/a`,
      }),
    ],
    B: (p: number, c: number): Script => [
      status(400, { error: `Cannot truncate prompt with n_keep (${p}) >= n_ctx (${c})` }),
    ],
    C: (p: number, c: number): Script => [
      status(400, {
        error: `The number of tokens to keep from the initial prompt is greater than the context length (n_keep: ${p}>= n_ctx: ${c}). Try to load the model with a larger context length, or provide a shorter prompt.`,
      }),
    ],
    /** HTTP 200 where streamed. */
    D: (p: number, c: number): Script => lmstudioEvent(fit(p, c)),
    /** Mid-generation: comes after what was said. */
    E: (c: number, said = ""): Script => [
      ...(said === "" ? [] : [say(said)]),
      ...lmstudioEvent(
        `Reached context length of ${c} tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.`,
      ),
    ],
    /** HTTP 200 with nothing in it. */
    F: (): Script => [done()],
  },
  llamacpp: {
    refused: (p: number, c: number): Script => [status(400, llamaError(p, c))],
    /** Some builds commit to 200 first. */
    inStream: (p: number, c: number): Script => [errorData(llamaError(p, c)), done()],
    /** Builds before September 2025: a field named `error`, which SSE does not know. */
    errorLine: (p: number, c: number): Script => [raw(`error: ${JSON.stringify(llamaError(p, c).error)}\n\n`), done()],
    /** Shared cache full in the middle of a reply; then the stream closes without `[DONE]`. */
    late: (...said: string[]): Script => [
      ...said.map((text) => say(text)),
      errorData({ error: { code: 500, message: "Context size has been exceeded.", type: "server_error" } }),
    ],
  },
  vllm: {
    new: (p: number, c: number, o: number): Script =>
      vllmError(
        `This model's maximum context length is ${c} tokens. However, you requested ${o} output tokens and your prompt contains at least ${p} input tokens, for a total of at least ${p + o} tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=${p})`,
        "input_tokens",
      ),
    /** The flat shape. */
    old: (p: number, c: number, o: number): Script => [
      status(400, {
        object: "error",
        message: `This model's maximum context length is ${c} tokens. However, you requested ${p + o} tokens (${p} in the messages, ${o} in the completion). Please reduce the length of the messages or completion.`,
        type: "BadRequestError",
        param: null,
        code: 400,
      }),
    ],
    chars: (characters: number, c: number, o: number): Script =>
      vllmError(
        `This model's maximum context length is ${c} tokens. However, you requested ${o} output tokens and your prompt contains ${characters} characters (more than ${4 * c} characters, which is the upper bound for ${c} input tokens). Please reduce the length of the input prompt or the number of requested output tokens.`,
        "input_text",
      ),
    passed: (p: number, c: number, o: number): Script =>
      vllmError(
        `You passed ${p} input tokens and requested ${o} output tokens. However, the model's context length is only ${c} tokens, resulting in a maximum input length of ${c - o} tokens. Please reduce the length of the input messages.`,
        "input_tokens",
      ),
    tooLarge: (p: number, c: number, o: number): Script =>
      vllmError(
        `'max_tokens' or 'max_completion_tokens' is too large: ${o}. This model's maximum context length is ${c} tokens and your request has ${p} input tokens (${o} > ${c} - ${p}).`,
      ),
    inputLength: (p: number, c: number): Script =>
      vllmError(`Input length (${p}) exceeds model's maximum context length (${c}).`),
    decoder: (p: number, c: number): Script =>
      vllmError(
        `The decoder prompt (length ${p}) is longer than the maximum model length of ${c}. Make sure that \`max_model_len\` is no smaller than the number of text tokens.`,
      ),
    /** The prompt alone is over by this many tokens. */
    negative: (over: number): Script =>
      vllmError(`max_tokens must be at least 1, got -${over}. (parameter=max_tokens, value=-${over})`, "max_tokens"),
  },
  openrouter: {
    own: (p: number, c: number, o: number): Script => [
      status(400, {
        error: {
          code: 400,
          message: `This endpoint's maximum context length is ${c} tokens. However, you requested about ${p + o} tokens (${p} of text input, ${o} in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`,
          metadata: { error_type: "context_length_exceeded", provider_name: null },
        },
      }),
    ],
    /** The upstream's own body, as a string inside the error. */
    wrapped: (body: unknown, code = 400): Script => [
      status(code, {
        error: {
          code,
          message: "Provider returned error",
          metadata: { raw: typeof body === "string" ? body : JSON.stringify(body), provider_name: "DeepInfra" },
        },
      }),
    ],
    /** Not an overflow: credit. */
    credits: (o: number, affordable: number): Script => [
      status(402, {
        error: {
          code: 402,
          message: `This request requires more credits, or fewer max_tokens. You requested up to ${o} tokens, but can only afford ${affordable}. To increase, visit https://openrouter.ai/settings/credits and add more credits`,
          metadata: { provider_name: null },
        },
        user_id: "user_x",
      }),
    ],
    /** A failure in the middle of a 200 stream; the stream then ends. */
    midStream: (code: number, message: string, ...said: string[]): Script => [
      ...said.map((text) => say(text)),
      event({
        id: "gen-1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        provider: "DeepInfra",
        error: { code, message, metadata: { error_type: "provider_unavailable" } },
        choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
      }),
    ],
  },
  openai: {
    chat: (p: number, c: number): Script =>
      openaiError(
        `This model's maximum context length is ${c} tokens. However, your messages resulted in ${p} tokens. Please reduce the length of the messages.`,
        "messages",
        "context_length_exceeded",
      ),
    functions: (p: number, c: number, f: number): Script =>
      openaiError(
        `This model's maximum context length is ${c} tokens. However, your messages resulted in ${p + f} tokens (${p} in the messages, ${f} in the functions). Please reduce the length of the messages or functions.`,
        "messages",
        "context_length_exceeded",
      ),
    sum: (p: number, c: number, o: number): Script =>
      openaiError(
        `This model's maximum context length is ${c} tokens. However, you requested ${p + o} tokens (${p} in the messages, ${o} in the completion). Please reduce the length of the messages or completion.`,
        "messages",
        "context_length_exceeded",
      ),
    /** A limit on the prompt alone. */
    configured: (p: number, c: number): Script =>
      openaiError(
        `Input tokens exceed the configured limit of ${c} tokens. Your messages resulted in ${p} tokens. Please reduce the length of the messages.`,
        "messages",
        "context_length_exceeded",
      ),
    responses: (): Script =>
      openaiError(
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "input",
        "context_length_exceeded",
      ),
    /** The same inside a 200 stream. */
    responsesStream: (): Script => [
      event(
        {
          type: "error",
          sequence_number: 2,
          code: "context_length_exceeded",
          message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
          param: "input",
        },
        "error",
      ),
    ],
    /** Not an overflow: the cap is above the model's output limit. */
    capTooLarge: (o: number, m: number, field = "max_tokens"): Script =>
      openaiError(
        `${field} is too large: ${o}. This model supports at most ${m} completion tokens, whereas you provided ${o}.`,
        field,
        "invalid_value",
      ),
    /** Not an overflow: the field is not read. */
    unsupportedField: (field = "max_tokens", instead = "max_completion_tokens"): Script =>
      openaiError(
        `Unsupported parameter: '${field}' is not supported with this model. Use '${instead}' instead.`,
        field,
        "unsupported_parameter",
      ),
    /** A cut that calls itself a 400: reasoning took the whole cap. */
    couldNotFinish: (): Script =>
      openaiError(
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
        null,
        null,
      ),
  },
  ollama: {
    native: (): Script => [
      status(400, {
        error: {
          message: "prompt is longer than the context length currently available to the model",
          type: "invalid_request_error",
          param: null,
          code: null,
        },
      }),
    ],
    cloud: (over: number): Script => [
      status(400, { error: { message: `prompt too long; exceeded max context length by ${over} tokens` } }),
    ],
    /** The window is full: nothing said, `length`, one token. */
    full: (c: number): Script => [
      say(""),
      finish("length"),
      { act: "usage", usage: { prompt: c - 1, completion: 1 }, force: false },
      done(),
    ],
  },
  anthropic: {
    prompt: (p: number, c: number): Script => anthropic(`prompt is too long: ${p} tokens > ${c} maximum`),
    sum: (p: number, c: number, o: number): Script =>
      anthropic(
        `input length and \`max_tokens\` exceed context limit: ${p} + ${o} > ${c}, decrease input length or \`max_tokens\` and try again`,
      ),
  },
  gemini: (p: number, c: number): Script => [
    status(400, [
      {
        error: {
          code: 400,
          message: `The input token count (${p}) exceeds the maximum number of tokens allowed (${c}).`,
          status: "INVALID_ARGUMENT",
        },
      },
    ]),
  ],
  groq: {
    chat: (): Script =>
      openaiError("Please reduce the length of the messages or completion.", "messages", "context_length_exceeded"),
    /** Not an overflow: tokens per minute. */
    perMinute: (limit: number, requested: number): Script => [
      status(413, {
        error: {
          message: `Request too large for model \`llama-3.3-70b-versatile\` in organization \`org_x\` service tier \`on_demand\` on tokens per minute (TPM): Limit ${limit}, Requested ${requested}, please reduce your message size and try again.`,
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      }),
    ],
  },
  mistral: (p: number, c: number): Script => [
    status(400, {
      object: "error",
      message: `Prompt contains ${p} tokens, too large for model with ${c} maximum context length`,
      type: "invalid_request_error",
      param: null,
      code: "3051",
    }),
  ],
};

function anthropic(message: string): Script {
  return [status(400, { type: "error", error: { type: "invalid_request_error", message }, request_id: "req_x" })];
}

/** A dialect's usual refusal of a prompt (and cap) over its window; null: it says nothing and drops the oldest messages. */
export function overWindow(dialect: DialectName, p: number, c: number, o: number): Script | null {
  switch (dialect) {
    case "lmstudio":
      return overflow.lmstudio.D(p, c);
    case "llamacpp":
      return overflow.llamacpp.refused(p, c);
    case "vllm":
      return overflow.vllm.new(p, c, o);
    case "ollama":
      return null;
    case "openrouter":
      return overflow.openrouter.own(p, c, o);
    case "openai":
    case "generic":
      return overflow.openai.sum(p, c, o);
    default:
      return dialect satisfies never;
  }
}

/** A dialect's refusal to go on with a trailing assistant message. */
export function prefillRefused(dialect: DialectName): Script {
  const lastRole = "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant";
  switch (dialect) {
    case "llamacpp": {
      const message = "Assistant response prefill is incompatible with enable_thinking.";
      return [status(400, { error: { code: 400, message, type: "invalid_request_error" } })];
    }
    case "lmstudio":
      return [
        status(400, {
          error:
            'Error rendering prompt with jinja template: "Conversation roles must alternate user/assistant/user/assistant/...".',
        }),
      ];
    case "openrouter":
      return overflow.openrouter.wrapped({
        type: "error",
        error: {
          type: "invalid_request_error",
          message:
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        },
      });
    case "vllm":
      return vllmError(lastRole);
    case "openai":
    case "ollama":
    case "generic":
      return openaiError(lastRole, null, null);
    default:
      return dialect satisfies never;
  }
}
