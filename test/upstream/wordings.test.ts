import { describe, expect, test } from "vitest";
import { WORDINGS } from "../../src/upstream/wordings.ts";

/** A sentence of each server, in its own words. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  anthropic_image: [
    "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
  ],
  anthropic_beta: ["The long context beta is not yet available for this subscription."],
  openai_chat: [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130518 tokens. Please reduce the length of the messages.",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens (149000 in the messages, 1000 in the functions). Please reduce the length of the messages or functions.",
  ],
  openai_chat_sum: [
    "This model's maximum context length is 8192 tokens. However, you requested 8256 tokens (64 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    "This model's maximum context length is 4097 tokens, however you requested 4226 tokens (3970 in your prompt; 256 for the completion). Please reduce your prompt; or completion length.",
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (800 in the messages, 100 in the functions, and 8100 in the completion).",
  ],
  openai_configured_limit: [
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 477469 tokens. Please reduce the length of the messages.",
  ],
  openai_responses: ["Your input exceeds the context window of this model. Please adjust your input and try again."],
  openrouter: [
    'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 148000 tokens (130000 of text input, 18000 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 148000 tokens (120000 of text input, 10000 of tool input, 18000 in the output).",
  ],
  openrouter_402: [
    "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 30104. To increase, visit https://openrouter.ai/settings/credits and add more credits",
  ],
  openrouter_prompt_limit: [
    "Prompt tokens limit exceeded: 230799 > 91442. To increase, visit https://openrouter.ai/settings/credits",
  ],
  llamacpp: ["request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it"],
  llamacpp_embd: ["input (9000 tokens) is larger than the max context size (8192 tokens). skipping"],
  llamacpp_old: [
    "the request exceeds the available context size. try increasing the context size or enable context shift",
  ],
  llamacpp_mid: ["Context size has been exceeded."],
  lmstudio_keep: [
    "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input. Error Data: n/a, Additional Data: n/a",
  ],
  lmstudio_nkeep: [
    "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)",
    "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter prompt.",
  ],
  lmstudio_fit: [
    "Input does not fit in context length. The input has 31430 tokens, but the context length only supports 30000 tokens.",
  ],
  lmstudio_midgen: [
    "Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.",
  ],
  vllm_new: [
    "This model's maximum context length is 131072 tokens. However, you requested 1024 output tokens and your prompt contains at least 130049 input tokens, for a total of at least 131073 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=130049)",
  ],
  vllm_chars: [
    "This model's maximum context length is 4096 tokens. However, you requested 100 output tokens and your prompt contains 90000 characters (more than 16384 characters, which is the upper bound for 4096 input tokens).",
  ],
  vllm_passed: [
    "You passed 4097 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens.",
    "You passed 90000 input characters and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens.",
  ],
  vllm_too_large: [
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 17459 input tokens (32000 > 32768 - 17459).",
  ],
  vllm_input_len: ["Input length (5000) exceeds model's maximum context length (4096)."],
  vllm_decoder: [
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
  ],
  vllm_negative: ["max_tokens must be at least 1, got -46771. (parameter=max_tokens, value=-46771)"],
  sglang_input: ["The input (61709 tokens) is longer than the model's context length (40960 tokens)."],
  sglang_total: [
    "Requested token count exceeds the model's maximum context length of 16384 tokens. You requested a total of 17964 tokens: 1580 tokens from the input messages and 16384 tokens for the completion.",
  ],
  sglang_sum: ["The request exceeds maximum context length of 16384 (1580 input + 16384 completion)"],
  anthropic: ["prompt is too long: 213456 tokens > 200000 maximum"],
  anthropic_sum: [
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
  ],
  gemini: [
    "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
    "The input token count 1200293 exceeds the maximum number of tokens allowed 1048576.",
  ],
  mistral: [
    "Prompt contains 66385 tokens, too large for model with 32768 maximum context length",
    "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 128000 maximum context length",
  ],
  xai: ["This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  copilot: ["prompt token count of 135000 exceeds the limit of 128000"],
  groq: ["Please reduce the length of the messages or completion."],
  groq_tpm: [
    "Request too large for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.",
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.",
  ],
  bedrock: ["Input is too long for requested model."],
  ollama_native: ["prompt is longer than the context length currently available to the model"],
  ollama_embed: ["the input length exceeds the context length"],
  ollama_cloud: ["prompt too long; exceeded max context length by 1234 tokens"],
  cohere: [
    "too many tokens: total number of tokens in the prompt cannot exceed 4081, size limit exceeded by 120 tokens",
  ],
  moonshot: ["Invalid request: Your request exceeded model token limit: 262144"],
  dashscope: ["<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"],
  cap_openai: [
    "max_tokens is too large: 20480. This model supports at most 16384 completion tokens, whereas you provided 20480.",
    "max_completion_tokens is too large: 200000. This model supports at most 128000 completion tokens, whereas you provided 200000.",
  ],
  cap_anthropic: [
    "max_tokens: 100001 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929",
  ],
  cap_deepseek: ["Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"],
  cap_doubao: ["Invalid `max_tokens`: integer above maximum value. expected a value <= 16384, but got 32000 instead."],
  could_not_finish: [
    "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
  ],
  llamacpp_thinking: ["Assistant response prefill is incompatible with enable_thinking."],
  anthropic_thinking: [
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
  ],
  dashscope_thinking: ["Partial mode is not supported when enable_thinking is true"],
  anthropic_prefill: [
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  ],
  mistral_prefill: ["Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"],
  gemini_prefill: [
    "Please ensure that multiturn requests alternate between user and model.",
    "Please ensure that single turn requests end with a user role or the role field is empty.",
  ],
  template_roles: [
    'Error rendering prompt: "Conversation roles must alternate user/assistant/user/assistant/..."',
    "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
  ],
  last_role: ["The last message must be from user", "last role should be user or tool"],
  llamacpp_two: ["Cannot have 2 or more assistant messages at the end of the list."],
  llamacpp_tools: ["Cannot continue an assistant message that contains tool calls."],
  both_flags: [
    "Cannot set both add_generation_prompt and continue_final_message to true.",
    "Cannot set both `add_generation_prompt` and `continue_final_message` to True.",
  ],
  template_rewrites: [
    "continue_final_message is set but the final message does not appear in the chat after applying the chat template! This can happen if the chat template deletes portions of the final message.",
  ],
  vllm_whitespace: ["substring not found"],
  anthropic_whitespace: ["messages: final assistant content cannot end with trailing whitespace"],
  openai_effort: [
    "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
    "Unsupported value: 'reasoning.effort' does not support 'none' with this model.",
  ],
  effort_level: ['level "max" not supported, valid levels: low, medium, high, xhigh'],
  openrouter_mandatory: ["Reasoning is mandatory for this endpoint and cannot be disabled."],
  ollama_thinking: ['"qwen2.5:7b" does not support thinking', 'think value "none" is not supported for this model'],
  anthropic_budget: ["thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"],
  openai_instead: [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  ],
  unknown_field: [
    "unknown field stream_options",
    'json: unknown field "parallel_tool_calls"',
    "Unrecognized request argument supplied: stream_options",
    "Unsupported parameter: 'reasoning_effort'. In the Responses API, this parameter has moved to 'reasoning.effort'.",
    "ChatCompletion.create() got an unexpected keyword argument 'stream_options'",
  ],
  extra_forbidden: ["body.stream_options: Extra inputs are not permitted"],
  extra_forbidden_repr: [
    "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 9000}]",
  ],
  not_supported: ["parallel_tool_calls is not supported by this model", "'stream_options' is not allowed here"],
  openai_quota: ["You exceeded your current quota, please check your plan and billing details."],
  lmstudio_path: ["Unexpected endpoint or method. (POST /chat/completions)"],
  openai_path: ["Invalid URL (POST /v1/messages)"],
  model_unknown: [
    'model "qwen3:8b" not found, try pulling it first',
    "model 'nope' not found",
    "The model `gpt-9` does not exist or you do not have access to it.",
  ],
  openrouter_model: ["No endpoints found for acme/m.", "acme/m is not a valid model ID"],
  no_model: ["No models loaded. Please load a model in the developer page or use the `lms load` command."],
  llamacpp_parse: ['Failed to parse tools: Missing tool type: {"bad":1}; tools = []'],
  template: ["Error rendering prompt with jinja template: unknown filter"],
  loading: ["Loading model"],
  lmstudio_crash: [
    "The model has crashed without additional information. (Exit code: 18446744072635810000)",
    "Model unloaded.",
    "Compute error.",
  ],
  ollama_busy: ["server busy, please try again.  maximum pending requests exceeded"],
};

const separated = (text: string) => text.replace(/(\d),(?=\d{3}\b)/g, "$1");

describe("each wording", () => {
  test("has a sample, and each id stands once", () => {
    const ids = WORDINGS.map(([id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(Object.keys(SAMPLES).sort());
  });

  /** More than one row may match where both mean the same of the same sentence: then the first one speaks. */
  const ALSO: Readonly<Record<string, readonly string[]>> = {
    // The template's own complaint comes wrapped in the renderer's.
    template_roles: ["template"],
    template_rewrites: ["template"],
    openai_instead: ["unknown_field", "not_supported"],
    extra_forbidden_repr: [],
  };

  test.each(Object.entries(SAMPLES).flatMap(([id, samples]) => samples.map((sample) => [id, sample] as const)))(
    "%s matches %j, and no other does",
    (id, sample) => {
      const matching = WORDINGS.filter(([, pattern]) => pattern.test(separated(sample))).map(([each]) => each);
      expect(matching[0]).toBe(id);
      expect(matching.slice(1).filter((each) => !ALSO[id]?.includes(each))).toEqual([]);
    },
  );
});
