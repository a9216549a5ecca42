import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faultOf, type Lesson, lessonOf } from "../../src/upstream/lessons.ts";

/** What an answer of this status and body teaches. */
function taught(status: number, body: unknown): Lesson {
  return lessonOf(faultOf(status, typeof body === "string" ? body : JSON.stringify(body)));
}

const openai = (message: string, more = {}) => ({
  error: { message, type: "invalid_request_error", param: null, code: null, ...more },
});
const overflow = (window: number | null, prompt: number | null, more: object = {}): Lesson => ({
  kind: "overflow",
  window,
  maxInput: null,
  prompt,
  asked: null,
  promptExact: true,
  ...more,
});

describe("over the window, in every place where it may stand", () => {
  test("OpenAI: messages, with functions and with a cap", () => {
    const begin = "This model's maximum context length is 128000 tokens. However, ";
    expect(taught(400, openai(`${begin}your messages resulted in 130518 tokens.`))).toEqual(overflow(128_000, 130_518));
    expect(
      taught(400, openai(`${begin}you requested 8256 tokens (64 in the messages, 8192 in the completion).`)),
    ).toEqual(overflow(128_000, 64, { asked: 8192 }));
    // What the functions cost is prompt too.
    expect(
      taught(
        400,
        openai(
          `${begin}you requested 9000 tokens (800 in the messages, 100 in the functions, and 8100 in the completion).`,
        ),
      ),
    ).toEqual(overflow(128_000, 900, { asked: 8100 }));
  });

  test("a limit on prompts alone is not the window", () => {
    expect(
      taught(
        400,
        openai("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 477469 tokens."),
      ),
    ).toEqual(overflow(null, 477_469, { maxInput: 272_000 }));
  });

  test("OpenAI Responses: no numbers; as an event in a 200 stream too", () => {
    const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
    expect(taught(400, openai(message, { code: "context_length_exceeded" }))).toEqual(overflow(null, null));
    const failed = { type: "response.failed", response: { error: { code: "context_length_exceeded", message } } };
    expect(lessonOf({ status: 200, message: "", type: null, code: null, body: failed })).toEqual(overflow(null, null));
  });

  test("thousands separators", () => {
    expect(taught(400, openai("prompt is too long: 213,456 tokens > 200,000 maximum"))).toEqual(
      overflow(200_000, 213_456),
    );
  });

  test("B2: LM Studio's event in a 200 stream", () => {
    const message =
      "Input does not fit in context length. The input has 31430 tokens, but the context length only supports 30000 tokens.";
    expect(taught(200, { error: { message }, message })).toEqual(overflow(30_000, 31_430));
  });

  test("B3: llama-server's own fields, inside a 200 stream and as a bare object", () => {
    const error = {
      code: 400,
      message: "request (24071 tokens) exceeds the available context size (8192 tokens)",
      type: "exceed_context_size_error",
      n_prompt_tokens: 24_071,
      n_ctx: 8192,
    };
    expect(taught(200, { error })).toEqual(overflow(8192, 24_071));
    expect(taught(200, error)).toEqual(overflow(8192, 24_071));
    // The fields suffice, whatever the sentence.
    expect(taught(400, { error: { ...error, message: "zu lang" } })).toEqual(overflow(8192, 24_071));
  });

  test("B4: LM Studio's bare strings", () => {
    expect(
      taught(400, {
        error:
          "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter prompt.",
      }),
    ).toEqual(overflow(4096, 13_055));
    expect(taught(400, { error: "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)" })).toEqual(
      overflow(7424, 15_028),
    );
  });

  test("LM Studio in the middle of a reply: the window only", () => {
    const message =
      "Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support it";
    expect(taught(200, { error: { message }, message })).toEqual(overflow(4096, null));
  });

  test("B5: OpenRouter's own check counts about", () => {
    expect(
      taught(400, {
        error: {
          code: 400,
          message:
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens (7884 of text input, 131072 in the output).",
          metadata: { error_type: "context_length_exceeded", provider_name: null },
        },
      }),
    ).toEqual(overflow(131_072, 7884, { asked: 131_072, promptExact: false }));
  });

  test("OpenRouter: the provider's own body, wrapped as a string", () => {
    const raw = JSON.stringify({
      error: { message: "request (9000 tokens) exceeds the available context size (8192 tokens)", code: 400 },
    });
    const wrapped = { error: { code: 400, message: "Provider returned error", metadata: { raw, provider_name: "X" } } };
    expect(taught(400, wrapped)).toEqual(overflow(8192, 9000));
    expect(
      taught(400, { error: { ...wrapped.error, metadata: { raw: "prompt is too long: 9 tokens > 8 maximum" } } }),
    ).toEqual(overflow(8, 9));
  });

  test("OpenRouter: in the choice of a 200 body, and by its type alone", () => {
    const error = { code: 400, message: "no", metadata: { error_type: "context_length_exceeded" } };
    expect(taught(200, { choices: [{ error, finish_reason: "error" }] })).toEqual(overflow(null, null));
    expect(
      taught(400, { error: { code: "invalid_prompt", message: "no" }, error_type: "context_length_exceeded" }),
    ).toEqual(overflow(null, null));
  });

  test("B7: SGLang's sum keeps its numbers, and stays an overflow where a gateway made it a 500", () => {
    const text = "Requested token count exceeds maximum context length of 16384 (1580 input + 16384 completion)";
    for (const status of [400, 500])
      expect(taught(status, openai(text))).toEqual(overflow(16_384, 1580, { asked: 16_384 }));
  });

  test("B9: a cap below one is an overflow in disguise", () => {
    expect(taught(400, { object: "error", message: "max_tokens must be at least 1, got -186.", code: 400 })).toEqual(
      overflow(null, null),
    );
  });

  test("vLLM counts no further than it must", () => {
    expect(
      taught(400, {
        error: {
          message:
            "This model's maximum context length is 131072 tokens. However, you requested 1024 output tokens and your prompt contains at least 130049 input tokens, for a total of at least 131073 tokens.",
          type: "BadRequestError",
          param: "input_tokens",
          code: 400,
        },
      }),
    ).toEqual(overflow(131_072, 130_049, { asked: 1024, promptExact: false }));
    const characters =
      "You passed 90000 input characters and requested 100 output tokens. However, the model's context length is only 4096 tokens.";
    expect(taught(400, openai(characters))).toEqual(overflow(4096, null, { asked: 100, promptExact: false }));
  });

  test("Gemini's array, Mistral's flat body, Bedrock's bare message", () => {
    const message = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
    expect(taught(400, [{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }])).toEqual(
      overflow(1_048_576, 1_200_293),
    );
    expect(
      taught(400, {
        object: "error",
        message: "Prompt contains 66385 tokens, too large for model with 32768 maximum context length",
      }),
    ).toEqual(overflow(32_768, 66_385));
    expect(taught(400, { message: "Input is too long for requested model." })).toEqual(overflow(null, null));
  });

  test("B105: the prompt is blamed for a cap, without numbers", () => {
    const error = { type: "invalid_request_error", message: "[1261][prompt is too long]" };
    expect(taught(400, { type: "error", error })).toEqual(overflow(null, null));
  });

  test("what only sounds like one counts on a refusal, never on a rate limit, a key or a failure", () => {
    const sounds = { error: { message: "context window exceeds limit" } };
    expect(taught(400, sounds).kind).toBe("overflow");
    expect(taught(200, sounds).kind).toBe("overflow");
    expect(taught(429, { error: { message: "Too many tokens, please wait before trying again." } }).kind).toBe(
      "transient",
    );
    expect(taught(401, sounds).kind).toBe("auth");
    expect(taught(503, sounds).kind).toBe("transient");
  });
});

describe("not over the window", () => {
  test.each<[string, number, unknown, Lesson]>([
    [
      "edge 97: the cap is above the model's limit",
      400,
      {
        error: {
          message: "max_tokens: 100001 > 64000, which is the maximum allowed number of output tokens for claude-x",
        },
      },
      { kind: "cap_too_large", max: 64_000 },
    ],
    [
      "the same at OpenAI",
      400,
      openai(
        "max_tokens is too large: 20480. This model supports at most 16384 completion tokens, whereas you provided 20480.",
        {
          param: "max_tokens",
          code: "invalid_value",
        },
      ),
      { kind: "cap_too_large", max: 16_384 },
    ],
    [
      "edge 98, B18: another field is wanted",
      400,
      openai(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {
          param: "max_tokens",
          code: "unsupported_parameter",
        },
      ),
      { kind: "cap_field", use: "max_completion_tokens" },
    ],
    [
      "B18: by its code alone",
      400,
      openai("no", { param: "max_tokens", code: "unsupported_parameter" }),
      { kind: "cap_field", use: "max_completion_tokens" },
    ],
    [
      "B18: and the other way round, in pydantic's words",
      400,
      {
        object: "error",
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
      },
      { kind: "cap_field", use: "max_tokens" },
    ],
    [
      "pydantic's list",
      422,
      { detail: [{ type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" }] },
      { kind: "option_refused", field: "stream_options" },
    ],
    [
      "pydantic's list inside a message (Mistral)",
      422,
      {
        object: "error",
        message: { detail: [{ loc: ["body", "parallel_tool_calls"], msg: "Extra inputs are not permitted" }] },
      },
      { kind: "option_refused", field: "parallel_tool_calls" },
    ],
    ["B67", 400, openai("unknown field stream_options"), { kind: "option_refused", field: "stream_options" }],
    [
      "a flag of resuming",
      422,
      { detail: [{ loc: ["body", "continue_final_message"], msg: "Extra inputs are not permitted" }] },
      { kind: "prefill_refused" },
    ],
    [
      "edge 91: an effort that the model does not take",
      400,
      openai("Unsupported value: 'reasoning_effort' does not support 'none' with this model.", {
        param: "reasoning_effort",
        code: "unsupported_value",
      }),
      { kind: "effort_refused" },
    ],
    [
      "edge 91: by its code",
      400,
      openai("no", { param: "reasoning.effort", code: "unsupported_value" }),
      { kind: "effort_refused" },
    ],
    [
      "edge 91: a switch that it does not know",
      400,
      openai("Unrecognized request argument supplied: chat_template_kwargs"),
      { kind: "effort_refused" },
    ],
    [
      "another value of the client's",
      400,
      openai("no", { param: "temperature", code: "unsupported_value" }),
      { kind: "invalid" },
    ],
    [
      "edge 71, B55: prefill while thinking",
      400,
      {
        error: {
          code: 400,
          message: "Assistant response prefill is incompatible with enable_thinking.",
          type: "invalid_request_error",
        },
      },
      { kind: "thinking_prefill_refused" },
    ],
    [
      "edge 71: no prefill at all",
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message:
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        },
      },
      { kind: "prefill_refused" },
    ],
    [
      "edge 71: through OpenRouter",
      400,
      {
        error: {
          code: 400,
          message: "Provider returned error",
          metadata: {
            raw: '{"object":"error","message":"Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant","code":"3230"}',
          },
        },
      },
      { kind: "prefill_refused" },
    ],
    [
      "edge 71: through a template",
      400,
      {
        error:
          'Error rendering prompt with jinja template: "Conversation roles must alternate user/assistant/user/assistant/...".',
      },
      { kind: "prefill_refused" },
    ],
    [
      "edge 71: both flags",
      400,
      openai("Cannot set both add_generation_prompt and continue_final_message to true."),
      { kind: "prefill_refused" },
    ],
    [
      "edge 71: whitespace",
      400,
      {
        error: {
          type: "invalid_request_error",
          message: "messages: final assistant content cannot end with trailing whitespace",
        },
      },
      { kind: "whitespace_refused" },
    ],
    [
      "edge 71: whitespace at vLLM",
      400,
      { object: "error", message: "substring not found", code: 400 },
      { kind: "whitespace_refused" },
    ],
    [
      "B88: credit for less",
      402,
      {
        error: {
          code: 402,
          message:
            "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 30104.",
        },
      },
      { kind: "credits", affordable: 30_104 },
    ],
    ["B88: no credit", 402, { error: { message: "Insufficient credits" } }, { kind: "credits", affordable: null }],
    [
      "used up",
      429,
      openai("You exceeded your current quota, please check your plan.", { code: "insufficient_quota" }),
      { kind: "quota" },
    ],
    [
      "a rate that is worded as a quota (Gemini)",
      429,
      [{ error: { message: "You exceeded your current quota. Please retry in 34.07s." } }],
      { kind: "transient" },
    ],
    [
      "over a rate by itself",
      413,
      {
        error: {
          message:
            "Request too large for model `x` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.",
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      },
      { kind: "tokens_per_minute", limit: 12_000, requested: 14_137 },
    ],
    [
      "over a rate for now",
      429,
      openai(
        "Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.",
        { code: "rate_limit_exceeded" },
      ),
      { kind: "transient" },
    ],
    ["a wrong key", 401, openai("Incorrect API key provided", { code: "invalid_api_key" }), { kind: "auth" }],
    ["no permission", 403, "<html><title>403 Forbidden</title></html>", { kind: "auth" }],
    [
      "no such model (Ollama)",
      404,
      { error: { message: 'model "m" not found, try pulling it first', type: "api_error" } },
      { kind: "model_not_found" },
    ],
    [
      "no such model (vLLM)",
      404,
      { object: "error", message: "The model `m` does not exist.", type: "NotFoundError", code: 404 },
      { kind: "model_not_found" },
    ],
    [
      "no such model (a llama-server router)",
      400,
      { error: { code: 400, message: "model 'm' not found", type: "invalid_request_error" } },
      { kind: "model_not_found" },
    ],
    [
      "no such path, with status 200 (LM Studio)",
      200,
      { error: "Unexpected endpoint or method. (POST /v1/messages)" },
      { kind: "wire_missing" },
    ],
    [
      "no such path (llama-server)",
      404,
      { error: { message: "File Not Found", type: "not_found_error", code: 404 } },
      { kind: "wire_missing" },
    ],
    ["no such path (Ollama)", 404, "404 page not found", { kind: "wire_missing" }],
    ["no such path (FastAPI)", 404, { detail: "Not Found" }, { kind: "wire_missing" }],
    ["no such method", 405, { detail: "Method Not Allowed" }, { kind: "wire_missing" }],
    [
      "a cut that calls itself a mistake",
      400,
      openai(
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
      ),
      { kind: "could_not_finish" },
    ],
    [
      "still loading",
      503,
      { error: { code: 503, message: "Loading model", type: "unavailable_error" } },
      { kind: "transient" },
    ],
    [
      "a shared cache that is full for now",
      500,
      { error: { code: 500, message: "Context size has been exceeded.", type: "server_error" } },
      { kind: "transient" },
    ],
    [
      "a crash, with status 400 (LM Studio)",
      400,
      { error: "The model has crashed without additional information. (Exit code: 6)" },
      { kind: "transient" },
    ],
    [
      "overloaded, in a stream (Anthropic)",
      200,
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      { kind: "transient" },
    ],
    [
      "a provider that is gone (OpenRouter)",
      200,
      { error: { code: 502, message: "no", metadata: { error_type: "provider_unavailable" } } },
      { kind: "transient" },
    ],
    [
      "a page of a proxy between",
      502,
      "<html><head><title>502 Bad Gateway</title></head></html>",
      { kind: "transient" },
    ],
    ["529", 529, { error: { message: "" } }, { kind: "transient" }],
    [
      "a mistake that calls itself a failure",
      500,
      { error: { code: 500, message: "Failed to parse tools: Missing tool type", type: "server_error" } },
      { kind: "invalid" },
    ],
    [
      "a long string",
      400,
      openai("Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576", {
        code: "string_above_max_length",
      }),
      { kind: "invalid" },
    ],
    [
      "a picture that is too large",
      400,
      { error: { message: "image exceeds 5 MB maximum: 6 MB > 5 MB" } },
      { kind: "invalid" },
    ],
    ["any other mistake", 400, openai("messages is required"), { kind: "invalid" }],
    ["too many bytes", 413, "<html><title>413 Request Entity Too Large</title></html>", { kind: "invalid" }],
  ])("%s", (_name, status, body, lesson) => {
    expect(taught(status, body)).toEqual(lesson);
  });

  test("LM Studio's MLX engine says with 200 what llama-server says with 500", () => {
    expect(taught(200, { error: { message: "Context size has been exceeded." } })).toEqual(overflow(null, null));
  });
});

describe("laws", () => {
  test("every status and body teaches something, and no number is below zero", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), fc.oneof(fc.json(), fc.string()), (status, body) => {
        const lesson = taught(status, body);
        expect(lesson.kind).toBeTypeOf("string");
        if (lesson.kind === "overflow")
          for (const tokens of [lesson.window, lesson.prompt, lesson.asked])
            expect(tokens === null || tokens >= 0).toBe(true);
      }),
    );
  });

  test("a transient status stays transient, whatever unknown thing is said with it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(408, 409, 425, 429, 500, 502, 503, 504, 524, 529),
        fc.string({ unit: "binary" }),
        (status, text) => {
          expect(taught(status, { error: { message: `? ${text.replace(/\w/g, "?")}` } }).kind).toBe("transient");
        },
      ),
    );
  });
});
