import type { Lesson } from "./lessons.ts";

type Groups = Readonly<Record<string, string | undefined>>;

/**
 * One wording of one server: its id, its pattern (applied to each text of an error, thousands separators taken out), and what
 * it means; null: at this status it means nothing.
 */
export type Wording = readonly [id: string, pattern: RegExp, means: (groups: Groups, status: number) => Lesson | null];

const tokens = (group: string | undefined): number | null => (group === undefined ? null : Number(group));

/** Groups: `c` window, `p` prompt, `f` and `tool` further parts of the prompt, `o` asked output. */
const overflow = (groups: Groups): Lesson & { kind: "overflow" } => ({
  kind: "overflow",
  window: tokens(groups.c),
  maxInput: null,
  prompt: groups.p === undefined ? null : Number(groups.p) + Number(groups.f ?? 0) + Number(groups.tool ?? 0),
  asked: tokens(groups.o),
  promptExact: true,
});
/** The prompt is "at least" or "about" so many, or was not tokenised to its end. */
const bound = (groups: Groups): Lesson => ({ ...overflow(groups), promptExact: false });
/** `c` limits the prompt alone. */
const inputLimit = (groups: Groups): Lesson => ({ ...overflow(groups), window: null, maxInput: tokens(groups.c) });
/** Group `m`: the most output. */
const capTooLarge = (groups: Groups): Lesson => ({ kind: "cap_too_large", max: Number(groups.m) });
/** Group `field`. */
const refusedField = (groups: Groups): Lesson | null => fieldRefused(groups.field ?? "");

const invalid = (): Lesson => ({ kind: "invalid" });
const transient = (): Lesson => ({ kind: "transient" });
const prefillRefused = (): Lesson => ({ kind: "prefill_refused" });
const thinkingPrefillRefused = (): Lesson => ({ kind: "thinking_prefill_refused" });
const whitespaceRefused = (): Lesson => ({ kind: "whitespace_refused" });
const effortRefused = (): Lesson => ({ kind: "effort_refused" });
const modelNotFound = (): Lesson => ({ kind: "model_not_found" });
const wireMissing = (): Lesson => ({ kind: "wire_missing" });

/** Fields that lastword may add, by what their refusal means; any other is an option like `stream_options`. */
const CAP_FIELDS: Readonly<Record<string, string>> = {
  max_tokens: "max_completion_tokens",
  max_completion_tokens: "max_tokens",
};
const EFFORT_FIELDS = ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs"];
const RESUME_FIELDS = ["continue_final_message", "add_generation_prompt", "prefix", "partial"];

/** What it means that a field is refused, `body.reasoning.effort` and the like by its top level; null: it is no field. */
function fieldRefused(path: string): Lesson | null {
  const field = path.replace(/^body\./, "").split(".")[0] ?? "";
  if (field === "") return null;
  const use = CAP_FIELDS[field];
  if (use !== undefined) return { kind: "cap_field", use };
  if (EFFORT_FIELDS.includes(field)) return { kind: "effort_refused" };
  return RESUME_FIELDS.includes(field) ? { kind: "prefill_refused" } : { kind: "option_refused", field };
}

/**
 * What servers say, most telling first. To add one: copy a sentence of it into the test, name the row after its server, and see
 * that the sentence matches no other row. Many begin alike ("maximum context length is N tokens"): never match on that alone.
 * Bound every repeat that is not of digits: the text may be anything, and as long as it likes.
 */
export const WORDINGS: readonly Wording[] = [
  // Not an overflow, although it may sound like one.
  ["anthropic_image", /image exceeds \d+ ?MB maximum/i, invalid],
  ["anthropic_beta", /long context beta|extra usage is required for long context/i, invalid],

  // Over the window. OpenAI; DeepSeek and older vLLM say `openai_chat_sum`.
  [
    "openai_chat",
    /maximum context length is (?<c>\d+) tokens\. However, your messages resulted in (?<p>\d+) tokens/i,
    overflow,
  ],
  [
    "openai_chat_sum",
    /maximum context length is (?<c>\d+) tokens[.,] however,? you requested \d+ tokens \((?<p>\d+) in (?:the messages|your prompt)[,;](?: (?<f>\d+) in the functions,)?(?: and)? (?<o>\d+) (?:in|for) the completion\)/i,
    overflow,
  ],
  [
    "openai_configured_limit",
    /Input tokens exceed the configured limit of (?<c>\d+) tokens\. Your messages resulted in (?<p>\d+) tokens/i,
    inputLimit,
  ],
  ["openai_responses", /Your input exceeds the context window of this model/i, overflow],
  // OpenRouter's own check counts "about".
  [
    "openrouter",
    /maximum context length is (?<c>\d+) tokens\. However, you requested about \d+ tokens \((?<p>\d+) of text input(?:, (?<tool>\d+) of tool input)?(?:, (?<o>\d+) in the output)?\)/i,
    bound,
  ],
  [
    "openrouter_402",
    /You requested up to \d+ tokens, but can only afford (?<a>\d+)/i,
    (groups) => ({ kind: "credits", affordable: tokens(groups.a) }),
  ],
  [
    "openrouter_prompt_limit",
    /Prompt tokens limit exceeded: \d+ > \d+/i,
    () => ({ kind: "credits", affordable: null }),
  ],
  // llama-server, and ik_llama.cpp with status 500.
  ["llamacpp", /request \((?<p>\d+) tokens\) exceeds the available context size \((?<c>\d+) tokens\)/i, overflow],
  ["llamacpp_embd", /input \((?<p>\d+) tokens\) is larger than the max context size \((?<c>\d+) tokens\)/i, overflow],
  ["llamacpp_old", /the request exceeds the available context size/i, overflow],
  // With 500, parallel replies have filled a cache that they share: room comes back when one of them ends. LM Studio's MLX engine means the window.
  [
    "llamacpp_mid",
    /Context size has been exceeded/i,
    (groups, status) => (status >= 500 ? transient() : overflow(groups)),
  ],
  [
    "lmstudio_keep",
    /Trying to keep the first (?<p>\d+) tokens when (?:context the|the context|context) overflows\. However, the model is loaded with (?:a )?context length of only (?<c>\d+) tokens/i,
    overflow,
  ],
  ["lmstudio_nkeep", /n_keep:? \(?(?<p>\d+)\)? ?>= n_ctx:? \(?(?<c>\d+)\)?/i, overflow],
  ["lmstudio_fit", /The input has (?<p>\d+) tokens, but the context length only supports (?<c>\d+) tokens/i, overflow],
  ["lmstudio_midgen", /Reached context length of (?<c>\d+) tokens with model/i, overflow],
  // vLLM stops tokenising one token above the limit: its counts are bounds.
  [
    "vllm_new",
    /maximum context length is (?<c>\d+) tokens\. However, you requested (?<o>\d+) output tokens and your prompt contains (?:at least )?(?<p>\d+) input tokens/i,
    bound,
  ],
  [
    "vllm_chars",
    /maximum context length is (?<c>\d+) tokens\. However, you requested (?<o>\d+) output tokens and your prompt contains \d+ characters/i,
    bound,
  ],
  [
    "vllm_passed",
    /You passed (?:(?<p>\d+) input tokens|\d+ input characters) and requested (?<o>\d+) output tokens\. However, the model's context length is only (?<c>\d+) tokens/i,
    bound,
  ],
  [
    "vllm_too_large",
    /'max_tokens' or 'max_completion_tokens' is too large: (?<o>\d+)\. This model's maximum context length is (?<c>\d+) tokens and your request has (?<p>\d+) input tokens/i,
    bound,
  ],
  ["vllm_input_len", /Input length \((?<p>\d+)\) exceeds model's maximum context length \((?<c>\d+)\)/i, bound],
  ["vllm_decoder", /prompt \(length (?<p>\d+)\) is longer than the maximum model length of (?<c>\d+)/i, bound],
  // The cap was derived from what was left, and nothing was.
  ["vllm_negative", /max_tokens must be at least 1, got -\d+/i, overflow],
  [
    "sglang_input",
    /The input \((?<p>\d+) tokens\) is longer than the model's context length \((?<c>\d+) tokens\)/i,
    overflow,
  ],
  [
    "sglang_total",
    /model's maximum context length of (?<c>\d+) tokens\. You requested a total of \d+ tokens: (?<p>\d+) tokens from the input messages and (?<o>\d+) tokens for the completion/i,
    overflow,
  ],
  ["sglang_sum", /maximum context length of (?<c>\d+) \((?<p>\d+) input \+ (?<o>\d+) completion\)/i, overflow],
  ["anthropic", /prompt is too long: (?<p>\d+) tokens > (?<c>\d+) maximum/i, overflow],
  [
    "anthropic_sum",
    /input length and `max_tokens` exceed context limit: (?<p>\d+) \+ (?<o>\d+) > (?<c>\d+)/i,
    overflow,
  ],
  [
    "gemini",
    /input token count \(?(?<p>\d+)\)? exceeds the maximum number of tokens allowed \(?(?<c>\d+)\)?/i,
    overflow,
  ],
  [
    "mistral",
    /Prompt contains (?<p>\d+) tokens(?: and \d+ draft tokens)?, too large for model with (?<c>\d+) maximum context length/i,
    overflow,
  ],
  ["xai", /maximum prompt length is (?<c>\d+) but the request contains (?<p>\d+) tokens/i, overflow],
  ["copilot", /prompt token count of (?<p>\d+) exceeds the limit of (?<c>\d+)/i, inputLimit],
  ["groq", /^Please reduce the length of the messages or completion\.?$/i, overflow],
  [
    "groq_tpm",
    /Request too large for .{1,300} on tokens per (?:min(?:ute)?|day) \(TP[MD]\): Limit (?<l>\d+), (?:Used \d+, )?Requested (?<r>\d+)/i,
    (groups) => ({ kind: "tokens_per_minute", limit: tokens(groups.l), requested: tokens(groups.r) }),
  ],
  ["bedrock", /Input is too long for requested model/i, overflow],
  ["ollama_native", /prompt is longer than the context length currently available to the model/i, overflow],
  ["ollama_embed", /the input length exceeds the context length/i, overflow],
  ["ollama_cloud", /prompt too long; exceeded max context length by \d+ tokens/i, overflow],
  ["cohere", /too many tokens: .{0,200}size limit exceeded by \d+ tokens/i, overflow],
  ["moonshot", /exceeded model token limit: (?<c>\d+)/i, overflow],
  ["dashscope", /Range of input length should be \[1, (?<c>\d+)\]/i, inputLimit],

  // The cap is above the model's limit.
  [
    "cap_openai",
    /max_(?:completion_)?tokens is too large: \d+\. This model supports at most (?<m>\d+) completion tokens/i,
    capTooLarge,
  ],
  ["cap_anthropic", /max_tokens: \d+ > (?<m>\d+), which is the maximum allowed number of output tokens/i, capTooLarge],
  ["cap_deepseek", /valid range of max_tokens is \[\d+, (?<m>\d+)\]/i, capTooLarge],
  ["cap_doubao", /expected a value <= (?<m>\d+), but got \d+ instead/i, capTooLarge],
  ["could_not_finish", /Could not finish the message because max_tokens/i, () => ({ kind: "could_not_finish" })],

  // The conversation may not end with the assistant.
  ["llamacpp_thinking", /prefill is incompatible with enable_thinking/i, thinkingPrefillRefused],
  ["anthropic_thinking", /final `assistant` message must start with a thinking block/i, thinkingPrefillRefused],
  ["dashscope_thinking", /partial mode (?:is )?not support\w*.{0,60}thinking/i, thinkingPrefillRefused],
  [
    "anthropic_prefill",
    /does not support assistant message prefill|conversation must end with a user message/i,
    prefillRefused,
  ],
  ["mistral_prefill", /Expected last role User or Tool/i, prefillRefused],
  ["gemini_prefill", /ensure that (?:single|multi)-? ?turn requests? (?:ends?|alternates?)/i, prefillRefused],
  ["template_roles", /roles must alternate/i, prefillRefused],
  ["last_role", /last (?:message|role) (?:must|should) (?:be|have|come)[^.]{0,40}user/i, prefillRefused],
  ["llamacpp_two", /2 or more assistant messages at the end/i, prefillRefused],
  ["llamacpp_tools", /Cannot continue an assistant message that contains tool calls/i, prefillRefused],
  ["both_flags", /both [`']?add_generation_prompt[`']? and [`']?continue_final_message/i, prefillRefused],
  ["template_rewrites", /continue_final_message is set but the final message does not appear/i, prefillRefused],
  ["vllm_whitespace", /^(?:.{0,40}: )?substring not found$/i, whitespaceRefused],
  ["anthropic_whitespace", /cannot end with trailing whitespace/i, whitespaceRefused],

  // Effort and thinking.
  [
    "openai_effort",
    /'reasoning[_.]effort' does not support|reasoning_effort[`'"]? (?:must be|should be|is not)/i,
    effortRefused,
  ],
  ["effort_level", /level "\w+" not supported, valid levels/i, effortRefused],
  ["openrouter_mandatory", /Reasoning is mandatory/i, effortRefused],
  ["ollama_thinking", /does not support thinking|think value .{1,40} is not supported/i, effortRefused],
  ["anthropic_budget", /thinking\.(?:\w+\.)?budget_tokens/i, effortRefused],

  // A field that is not taken.
  [
    "openai_instead",
    /Unsupported parameter: '\w+' is not supported with this model\. Use '(?<use>max_\w+)' instead/i,
    (groups) => ({ kind: "cap_field", use: groups.use ?? "max_completion_tokens" }),
  ],
  [
    "unknown_field",
    /(?:unknown|unrecognized|unsupported|unexpected)(?: request| keyword)? (?:field|parameter|argument|option)(?: supplied)?:? ?[`'"]?(?<field>[a-z]\w*(?:\.\w+)*)/i,
    refusedField,
  ],
  ["extra_forbidden", /(?<![\w.])(?<field>[a-z][\w.]{0,80}): Extra inputs are not permitted/i, refusedField],
  ["extra_forbidden_repr", /'extra_forbidden', 'loc': \('body', '(?<field>\w+)'/i, refusedField],
  [
    "not_supported",
    /(?<!\w)(?<field>[a-z]{1,40}_[a-z_]{1,60})[`'"]? is not (?:supported|allowed|permitted)/i,
    refusedField,
  ],

  // Money and models.
  // Gemini words its rate limits so too, and then says when to try again.
  ["openai_quota", /exceeded your current quota(?![\s\S]*retry in)/i, () => ({ kind: "quota" })],
  ["lmstudio_path", /^Unexpected endpoint or method\./i, wireMissing],
  ["openai_path", /^Invalid URL \(/i, wireMissing],
  [
    "model_unknown",
    /model [`'"]?[^`'"\s]{1,200}[`'"]? (?:was )?not found|The model [`'"][^`'"]{1,200}[`'"] does not exist/i,
    modelNotFound,
  ],
  ["openrouter_model", /No endpoints found|is not a valid model ID/i, modelNotFound],
  ["no_model", /^No models? (?:is |are )?loaded/i, modelNotFound],

  // The same request will fail the same way, whatever its status.
  ["llamacpp_parse", /Failed to parse (?:tools|messages|tool_choice|input|grammar)/i, invalid],
  ["template", /jinja|chat template|render(?:ing)? (?:the )?prompt/i, invalid],
  // It may not, although its status says so or says nothing.
  ["loading", /Loading model/i, transient],
  ["lmstudio_crash", /model (?:has )?(?:crashed|unloaded)|Compute error/i, transient],
  ["ollama_busy", /server busy, please try again/i, transient],
];

/** Codes and types, of which a word decides where the sentence does not. Groups in order of weight; `param`: the field that is blamed. */
export const CODES: readonly (readonly [codes: readonly string[], means: (param: string) => Lesson | null])[] = [
  [
    [
      "context_length_exceeded",
      "exceed_context_size_error",
      "model_max_prompt_tokens_exceeded",
      "token_limit_exceeded",
    ],
    () => overflow({}),
  ],
  [["insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached"], () => ({ kind: "quota" })],
  [["payment_required", "billing_error"], () => ({ kind: "credits", affordable: null })],
  [["unsupported_parameter", "unknown_parameter"], fieldRefused],
  [["unsupported_value", "invalid_value"], (param) => (/^reasoning/.test(param) ? effortRefused() : null)],
  [
    ["authentication", "authentication_error", "permission_denied", "permission_error", "invalid_api_key"],
    () => ({ kind: "auth" }),
  ],
  [["model_not_found", "model_deprecated", "no_endpoints", "free_variant_ended"], modelNotFound],
  [["wrong_endpoint", "not_supported_error"], wireMissing],
  [
    [
      "rate_limit_exceeded",
      "rate_limit_error",
      "rate_limited",
      "slow_down",
      "overloaded_error",
      "provider_overloaded",
      "provider_unavailable",
      "capacity_exhausted",
      "temporarily_unavailable",
      "server_is_overloaded",
      "service_unavailable_error",
      "unavailable_error",
      "insufficient_system_resource",
      "timeout",
      "timeout_error",
      "server",
      "server_error",
      "api_error",
      "internal_error",
      "internal_server_error",
      "InternalServerError",
    ],
    transient,
  ],
  [["string_above_max_length", "string_too_long", "content_policy_violation", "content_filter", "refusal"], invalid],
];
