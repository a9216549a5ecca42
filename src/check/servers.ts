import type { DialectName } from "../upstream/dialect.ts";
import { pasteable } from "../upstream/widen.ts";

/** What people call a kind of server. */
export const SERVER_NAMES: Readonly<Record<DialectName, string>> = {
  lmstudio: "LM Studio",
  llamacpp: "llama-server",
  vllm: "vLLM",
  ollama: "Ollama",
  openrouter: "OpenRouter",
  openai: "OpenAI",
  generic: "an OpenAI-compatible server",
};

/** A server that people run themselves. */
interface LocalServer {
  /** Where it listens unless told otherwise. */
  readonly port: number;
  /** What it calls the window where that is set. */
  readonly windowTerm: string;
  /** Starts it at this port. */
  start(port: number): string;
  /** Gives it a first model. */
  readonly get: string;
  /** Loads a model, with a window that is worth having; null: models are loaded with the server. */
  readonly load: ((model: string) => string) | null;
}

/** A context length that most machines can hold. */
const WINDOW = 32_768;

/** Source: each one's own command line help. To add one: its row, and its name above. */
const LOCAL: Readonly<Partial<Record<DialectName, LocalServer>>> = {
  lmstudio: {
    port: 1234,
    windowTerm: "context length",
    start: (port) => (port === 1234 ? "lms server start" : `lms server start --port ${port}`),
    get: "lms get qwen3-8b",
    load: (model) => `lms load ${pasteable(model)} --context-length ${WINDOW}`,
  },
  ollama: {
    port: 11434,
    windowTerm: "num_ctx",
    start: (port) => (port === 11434 ? "ollama serve" : `OLLAMA_HOST=127.0.0.1:${port} ollama serve`),
    get: "ollama pull qwen3:8b",
    load: (model) => `ollama run ${pasteable(model)} ""`,
  },
  llamacpp: {
    port: 8080,
    windowTerm: "-c",
    start: (port) => `llama-server -m MODEL.gguf -c ${WINDOW} --port ${port}`,
    get: `llama-server -hf Qwen/Qwen3-8B-GGUF -c ${WINDOW}`,
    load: null,
  },
  vllm: {
    port: 8000,
    windowTerm: "--max-model-len",
    start: (port) => `vllm serve MODEL --max-model-len ${WINDOW} --port ${port}`,
    get: `vllm serve Qwen/Qwen3-8B --max-model-len ${WINDOW}`,
    load: null,
  },
};

/** null: a service that others run, or any server. */
export function localServer(dialect: DialectName): LocalServer | null {
  return LOCAL[dialect] ?? null;
}

/** The server that usually listens at a port. */
export function usualAt(port: number): DialectName | null {
  const found = Object.entries(LOCAL).find(([, server]) => server.port === port);
  return found === undefined ? null : (found[0] as DialectName);
}
