import type { WireName } from "../../src/core/ask.ts";
import { asString, type JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { promptTokens, renderPrompt, tokenize, turnsOf } from "./upstream-tokens.ts";
import { EPOCH } from "./upstream-writer.ts";

export interface ModelSpec {
  readonly id: string;
  /** Tokens; null: the server does not tell. @default the server's `window` */
  readonly window?: number | null;
  /** The trained maximum. @default 131072 */
  readonly trained?: number;
  /** Output limit, where the dialect tells one. @default null */
  readonly maxOutput?: number | null;
  /** @default true */
  readonly loaded?: boolean;
  readonly reasoning?: boolean;
  /** LM Studio: further loaded instances (`key:2`) with their windows. */
  readonly instances?: Readonly<Record<string, number>>;
}

/** What a scripted server says of itself without generating. */
export interface Facts {
  readonly dialect: DialectName;
  readonly models: readonly ModelSpec[];
  /** Tokens; null: told nowhere. */
  readonly window: number | null;
  /** `exact`: every counting path; `old`: only `/tokenize` (and `/apply-template`); `none`. */
  readonly counts: "exact" | "old" | "none";
  /** LM Studio: `v1` also serves `v0`; `none`: neither. */
  readonly native: "v0" | "v1" | "none";
  /** llama-server as a router: `/props` needs `?model=`, without it `n_ctx` is 0. */
  readonly router: boolean;
}

/** The answer to a query. Text goes out as text/plain. */
export interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Question {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly search: URLSearchParams;
  readonly body: JsonObject;
}

type Answerer = (facts: Facts, ask: Question) => Answer | null;

/** What the server answers to a request that generates nothing; never null, an unknown path has its own answer. */
export function answerQuery(facts: Facts, ask: Question): Answer {
  return ANSWERERS[facts.dialect](facts, ask) ?? unknownPath(facts.dialect, ask);
}

export function windowOf(facts: Facts, model: ModelSpec): number | null {
  return model.window === undefined ? facts.window : model.window;
}

/** The model of this name, else the first. */
export function modelNamed(facts: Facts, name: unknown): ModelSpec {
  return facts.models.find((model) => model.id === name) ?? facts.models[0] ?? { id: "m" };
}

function modelList(facts: Facts, item: (model: ModelSpec) => JsonObject): Answer {
  return { json: { object: "list", data: facts.models.map(item) } };
}

/** `GET /v1/models` and `/v1/models/{id}` as most servers have them. */
function listed(base: string, item: (model: ModelSpec, facts: Facts) => JsonObject): Answerer {
  return (facts, ask) => {
    if (ask.method !== "GET") return null;
    if (ask.path === `${base}/models`) return modelList(facts, (model) => item(model, facts));
    const model = facts.models.find((each) => ask.path === `${base}/models/${each.id}`);
    return model === undefined ? null : { json: item(model, facts) };
  };
}

const ANSWERERS: Record<DialectName, Answerer> = {
  llamacpp: llamacpp(),
  lmstudio: lmstudio(),
  vllm: vllm(),
  ollama: ollama(),
  openrouter: listed("/api/v1", (model, facts) => ({
    id: model.id,
    canonical_slug: model.id,
    name: model.id,
    created: EPOCH,
    context_length: windowOf(facts, model),
    architecture: { input_modalities: ["text"], output_modalities: ["text"], tokenizer: "GPT", instruct_type: null },
    pricing: { prompt: "0.00000015", completion: "0.0000006" },
    top_provider: {
      context_length: windowOf(facts, model),
      max_completion_tokens: model.maxOutput ?? null,
      is_moderated: false,
    },
    per_request_limits: null,
    supported_parameters: ["max_tokens", "temperature", "tools", ...(model.reasoning === true ? ["reasoning"] : [])],
    default_parameters: {},
  })),
  openai: listed("/v1", (model) => ({ id: model.id, object: "model", created: EPOCH, owned_by: "system" })),
  generic: listed("/v1", (model) => ({ id: model.id, object: "model" })),
};

function llamacpp(): Answerer {
  const list = listed("/v1", (model, facts) => ({
    id: model.id,
    object: "model",
    created: EPOCH,
    owned_by: "llamacpp",
    ...(facts.router ? { status: { value: model.loaded === false ? "unloaded" : "loaded" } } : {}),
    meta: {
      vocab_type: 2,
      n_vocab: 151_936,
      ...(facts.router ? {} : { n_ctx: windowOf(facts, model) }),
      n_ctx_train: model.trained ?? 131_072,
      n_embd: 4096,
      n_params: 8_190_735_360,
      size: 5_023_178_752,
    },
  }));
  return (facts, ask) => {
    const at = `${ask.method} ${ask.path}`;
    if (at === "GET /props") {
      const named = ask.search.get("model");
      const window = facts.router && named === null ? 0 : windowOf(facts, modelNamed(facts, named));
      return {
        json: {
          default_generation_settings: { id: 0, n_ctx: window, is_processing: false, params: { n_predict: -1 } },
          total_slots: 1,
          model_path: `/models/${modelNamed(facts, named).id}.gguf`,
          chat_template: "{{ messages }}",
          modalities: { vision: false, audio: false },
          build_info: "b6500-3d4e5f6a",
        },
      };
    }
    if (at === "GET /health" || at === "GET /v1/health") return { json: { status: "ok" } };
    if (at === "GET /slots")
      return { json: [{ id: 0, n_ctx: windowOf(facts, modelNamed(facts, null)), is_processing: false }] };
    if (at === "GET /models") return list(facts, { ...ask, path: "/v1/models" });
    if (facts.counts !== "none") {
      if (at === "POST /tokenize") return { json: { tokens: ids(asString(ask.body.content) ?? "") } };
      if (at === "POST /apply-template") {
        const open = turnsOf("chat", ask.body).at(-1)?.role === "assistant";
        return { json: { prompt: renderPrompt("chat", ask.body, open) } };
      }
    }
    if (facts.counts === "exact") {
      const count = (wire: WireName, more: JsonObject = {}) => ({
        json: { ...more, input_tokens: promptTokens(wire, ask.body) },
      });
      if (at === "POST /v1/chat/completions/input_tokens") return count("chat", { object: "response.input_tokens" });
      if (at === "POST /v1/responses/input_tokens") return count("responses", { object: "response.input_tokens" });
      if (at === "POST /v1/messages/count_tokens") return count("messages");
    }
    return list(facts, ask);
  };
}

function lmstudio(): Answerer {
  const list = listed("/v1", (model) => ({ id: model.id, object: "model", owned_by: "organization_owner" }));
  const v0 = (facts: Facts, model: ModelSpec): JsonObject => ({
    id: model.id,
    object: "model",
    type: "llm",
    publisher: "acme",
    arch: "qwen3",
    compatibility_type: "gguf",
    quantization: "Q4_K_M",
    state: model.loaded === false ? "not-loaded" : "loaded",
    max_context_length: model.trained ?? 131_072,
    ...(model.loaded === false ? {} : { loaded_context_length: windowOf(facts, model) }),
    capabilities: ["tool_use"],
  });
  return (facts, ask) => {
    const at = `${ask.method} ${ask.path}`;
    if (at === "GET /api/v0/models" && facts.native !== "none") return modelList(facts, (model) => v0(facts, model));
    const single = facts.models.find((model) => at === `GET /api/v0/models/${model.id}`);
    if (single !== undefined && facts.native !== "none") return { json: v0(facts, single) };
    if (at === "GET /api/v1/models" && facts.native === "v1")
      return { json: { models: facts.models.map((model) => nativeModel(facts, model)) } };
    return list(facts, ask);
  };
}

function nativeModel(facts: Facts, model: ModelSpec): JsonObject {
  const loaded = model.loaded === false ? {} : { [model.id]: windowOf(facts, model) };
  return {
    type: "llm",
    publisher: "acme",
    key: model.id,
    display_name: model.id,
    architecture: "qwen3",
    quantization: { name: "Q4_K_M", bits_per_weight: 4 },
    size_bytes: 5_023_178_752,
    params_string: "8B",
    loaded_instances: Object.entries({ ...loaded, ...model.instances }).map(([id, window]) => ({
      id,
      config: { context_length: window, eval_batch_size: 512, parallel: 4, flash_attention: true },
    })),
    max_context_length: model.trained ?? 131_072,
    format: "gguf",
    capabilities: {
      vision: false,
      trained_for_tool_use: true,
      ...(model.reasoning === true ? { reasoning: { allowed_options: ["off", "on"], default: "on" } } : {}),
    },
  };
}

function vllm(): Answerer {
  const list = listed("/v1", (model, facts) => ({
    id: model.id,
    object: "model",
    created: EPOCH,
    owned_by: "vllm",
    root: model.id,
    parent: null,
    max_model_len: windowOf(facts, model),
    permission: [],
  }));
  return (facts, ask) => {
    const at = `${ask.method} ${ask.path}`;
    if (at === "GET /health") return { text: "" };
    if (at === "GET /version") return { json: { version: "0.11.0" } };
    if (at === "POST /tokenize" && facts.counts !== "none") {
      const prompt = asString(ask.body.prompt);
      const open = ask.body.continue_final_message === true;
      const tokens = ids(prompt ?? renderPrompt("chat", ask.body, open));
      const window = windowOf(facts, modelNamed(facts, asString(ask.body.model)));
      return { json: { count: tokens.length, max_model_len: window, tokens, token_strs: null } };
    }
    return list(facts, ask);
  };
}

function ollama(): Answerer {
  const list = listed("/v1", (model) => ({ id: model.id, object: "model", created: EPOCH, owned_by: "library" }));
  const details = { format: "gguf", family: "qwen3", parameter_size: "8.2B", quantization_level: "Q4_K_M" };
  const tag = (model: ModelSpec): JsonObject => ({
    name: model.id,
    model: model.id,
    size: 5_225_388_164,
    digest: "500a1f067a9f",
    details,
  });
  return (facts, ask) => {
    const at = `${ask.method} ${ask.path}`;
    if (at === "GET /") return { text: "Ollama is running" };
    if (at === "GET /api/version") return { json: { version: "0.13.5" } };
    if (at === "GET /api/tags") return { json: { models: facts.models.map(tag) } };
    if (at === "GET /api/ps") {
      const loaded = facts.models.filter((model) => model.loaded !== false);
      const running = (model: ModelSpec): JsonObject => ({
        ...tag(model),
        size_vram: 5_225_388_164,
        expires_at: "2030-01-01T00:00:00Z",
        context_length: windowOf(facts, model),
      });
      return { json: { models: loaded.map(running) } };
    }
    if (at === "POST /api/show") {
      const name = asString(ask.body.model) ?? asString(ask.body.name);
      const model = facts.models.find((each) => each.id === name);
      if (model === undefined) return { status: 404, json: { error: `model '${name ?? ""}' not found` } };
      return {
        json: {
          parameters: 'temperature 0.6\nstop "<|im_end|>"',
          template: "{{ .Prompt }}",
          details,
          model_info: { "general.architecture": "qwen3", "qwen3.context_length": model.trained ?? 131_072 },
          capabilities: ["completion", "tools", ...(model.reasoning === true ? ["thinking"] : [])],
        },
      };
    }
    return list(facts, ask);
  };
}

/** Token ids: small numbers that differ with the piece; only their count is believable. */
function ids(text: string): number[] {
  return tokenize(text).map((piece) => piece.codePointAt(0) ?? 0);
}

/** LM Studio answers 200 to whatever it does not know. */
function unknownPath(dialect: DialectName, ask: Pick<Question, "method" | "path">): Answer {
  switch (dialect) {
    case "lmstudio":
      return { json: { error: `Unexpected endpoint or method. (${ask.method} ${ask.path})` } };
    case "llamacpp":
      return { status: 404, json: { error: { code: 404, message: "File Not Found", type: "not_found_error" } } };
    case "vllm":
      return { status: 404, json: { detail: "Not Found" } };
    case "ollama":
      return { status: 404, text: "404 page not found" };
    case "openrouter":
      return { status: 404, json: { error: { message: "Not Found", code: 404 } } };
    case "openai": {
      const message = `Invalid URL (${ask.method} ${ask.path})`;
      return { status: 404, json: { error: { message, type: "invalid_request_error", param: null, code: null } } };
    }
    case "generic":
      return { status: 404, json: { error: { message: "Not Found" } } };
    default:
      return dialect satisfies never;
  }
}
