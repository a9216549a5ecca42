import type { Dialect, DialectName } from "./dialect.ts";
import { generic, genericAt } from "./generic/index.ts";
import { llamacpp } from "./llamacpp/index.ts";
import { lmstudio } from "./lmstudio/index.ts";
import { ollama } from "./ollama/index.ts";
import { openai } from "./openai/index.ts";
import { openrouter } from "./openrouter/index.ts";
import { vllm } from "./vllm/index.ts";

/** Every dialect. A new one: its folder, its name in `DIALECTS`, and a line here. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  lmstudio,
  llamacpp,
  vllm,
  ollama,
  openrouter,
  openai,
  generic,
};

/** A dialect as spoken at this address: some hosted services are generic, but known by their host name. */
export function dialectAt(name: DialectName, base: URL): Dialect {
  return name === "generic" ? genericAt(base.hostname) : dialects[name];
}
