import type { Path } from "./problem.ts";

/** What can be set without a config file. `config` itself is not here: it says where the file is. */
export const SETTINGS = [
  {
    flag: "upstream",
    env: "LASTWORD_UPSTREAM",
    value: "URL",
    path: ["upstreams", 0, "url"],
    says: "server to stand in front of (default http://localhost:1234/v1, LM Studio)",
  },
  {
    flag: "dialect",
    env: "LASTWORD_DIALECT",
    value: "NAME",
    path: ["upstreams", 0, "dialect"],
    says: "kind of server: auto, lmstudio, llamacpp, vllm, ollama, openrouter, openai, generic (default auto)",
  },
  {
    flag: "key",
    env: "LASTWORD_UPSTREAM_KEY",
    value: "KEY",
    path: ["upstreams", 0, "key"],
    says: "key sent to the upstream (default: the client's own is passed on)",
  },
  {
    flag: "window",
    env: "LASTWORD_WINDOW",
    value: "N",
    path: ["models", "*", "window"],
    says: "context window in tokens, for every model (default: discovered)",
  },
  {
    flag: "host",
    env: "LASTWORD_HOST",
    value: "HOST",
    path: ["listen", "host"],
    says: "address to bind (default 127.0.0.1)",
  },
  {
    flag: "port",
    env: "LASTWORD_PORT",
    value: "N",
    path: ["listen", "port"],
    says: "port to bind, 0 for any free one (default 4747)",
  },
  {
    flag: "log-level",
    env: "LASTWORD_LOG_LEVEL",
    value: "LEVEL",
    path: ["runtime", "logLevel"],
    says: "silent, error, warn, info or debug (default info)",
  },
  {
    flag: "allow-open",
    env: null,
    value: null,
    path: ["runtime", "allowOpen"],
    says: "allow binding beyond loopback although an upstream key is set and clients need none",
  },
  {
    flag: "workers",
    env: null,
    value: "N",
    path: ["runtime", "workers"],
    says: "processes that share the port (default 1)",
  },
  {
    flag: "redis",
    env: null,
    value: "URL",
    path: ["state", "redis"],
    says: "Redis that replicas share (default none)",
  },
] as const satisfies readonly Setting[];

interface Setting {
  /** Without the dashes. */
  readonly flag: string;
  readonly env: string | null;
  /** What the value is called in help; null: a switch. */
  readonly value: string | null;
  /** Where it stands in the configuration. */
  readonly path: Path;
  readonly says: string;
}

type SettingFlag = (typeof SETTINGS)[number]["flag"];
export type Flags = Readonly<Partial<Record<SettingFlag, string | boolean>>>;
