/** Answers as real servers give them, shortened to what matters. */

/** LM Studio 0.4, `GET /api/v1/models`. */
export function lmModel(key: string, instances: Readonly<Record<string, number>>, trained = 131_072, more = {}) {
  return {
    type: "llm",
    publisher: "google",
    key,
    display_name: key,
    architecture: "gemma3n",
    quantization: { name: "Q4_K_M", bits_per_weight: 4 },
    size_bytes: 1,
    params_string: "7B",
    loaded_instances: Object.entries(instances).map(([id, context_length]) => ({
      id,
      config: { context_length, eval_batch_size: 512, parallel: 4, flash_attention: true, num_experts: 0 },
    })),
    max_context_length: trained,
    format: "gguf",
    capabilities: { vision: false, trained_for_tool_use: true, ...more },
  };
}

/** LM Studio 0.3, `GET /api/v0/models`. */
export const lmOlder = {
  object: "list",
  data: [
    {
      id: "qwen2-vl-7b-instruct",
      object: "model",
      type: "vlm",
      publisher: "mlx-community",
      arch: "qwen2_vl",
      compatibility_type: "mlx",
      quantization: "4bit",
      state: "not-loaded",
      max_context_length: 32_768,
    },
    {
      id: "m",
      type: "llm",
      state: "loaded",
      max_context_length: 262_144,
      loaded_context_length: 8_192,
      capabilities: ["tool_use"],
    },
  ],
};

/** LM Studio answers this, with status 200, to every path that it does not know. */
export function lmUnknown(at: string): unknown {
  const [method, where, path] = at.split(" ");
  return { error: `Unexpected endpoint or method. (${method} ${where === "v1" ? "/v1" : ""}${path})` };
}

/** llama-server build 11669, one model, `GET /v1/models`. */
export function llamaModel(id: string, meta: Readonly<Record<string, unknown>> | null, more = {}) {
  return {
    id,
    aliases: [],
    tags: [],
    object: "model",
    owned_by: "llamacpp",
    created: 1_796_053_214,
    architecture: { input_modalities: ["text"], output_modalities: ["text"] },
    ...(meta === null ? {} : { meta: { vocab_type: 2, n_vocab: 1184, n_params: 1_142_880, ...meta } }),
    ...more,
  };
}

/** The same build as a router: a model that is not loaded has its trained length in `context_length`. */
export function llamaRouted(
  id: string,
  status: string,
  meta: Readonly<Record<string, unknown>> | null,
  aliases: string[] = [],
) {
  const args = ["/usr/bin/llama-server", "--alias", id, "--ctx-size", "1024", "--parallel", "1"];
  return llamaModel(id, meta, {
    aliases,
    status: { value: status, args, preset: `[${id}]` },
    source: "models_dir",
    context_length: 4_096,
  });
}

export function llamaProps(n_ctx: number) {
  return {
    default_generation_settings: { params: { n_predict: -1, max_tokens: -1 }, n_ctx },
    total_slots: 1,
    model_path: "/models/m.gguf",
    chat_template: "{{ messages }}",
    build_info: "b11669",
  };
}

/** A router's bare `/props`. */
export const llamaRouterProps = {
  role: "router",
  max_instances: 4,
  models_autoload: true,
  model_alias: "llama-server",
  model_path: "none",
  default_generation_settings: { params: null, n_ctx: 0 },
  build_info: "b11669",
};

export const llamaNotFound = { error: { message: "File Not Found", type: "not_found_error", code: 404 } };

export function vllmModel(id: string, max_model_len: number | undefined, more = {}) {
  return {
    id,
    object: "model",
    created: 1,
    owned_by: "vllm",
    root: id,
    parent: null,
    ...(max_model_len === undefined ? {} : { max_model_len }),
    permission: [],
    ...more,
  };
}

export function ollamaTag(name: string, more = {}) {
  return { name, model: name, size: 1, digest: "500a1f067a9f", details: { family: "qwen3" }, ...more };
}

export function routerModel(id: string, more = {}) {
  return {
    id,
    canonical_slug: id,
    name: id,
    created: 1_721_260_800,
    context_length: 128_000,
    architecture: { input_modalities: ["text"], output_modalities: ["text"], tokenizer: "GPT", instruct_type: null },
    pricing: { prompt: "0.00000015", completion: "0.0000006" },
    top_provider: { context_length: 128_000, max_completion_tokens: 16_384, is_moderated: true },
    per_request_limits: null,
    supported_parameters: ["max_tokens", "temperature", "tools"],
    default_parameters: {},
    ...more,
  };
}
