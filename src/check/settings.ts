import type { Source } from "../config/layers.ts";
import { pasteable } from "../upstream/widen.ts";

/** Writes settings the way their user gave them: as flags, or as lines of the config file. */
export interface Settings {
  upstream(url: string): string;
  key(): string;
  dialect(name: string): string;
  /** `model` may be `*`; `tokens` in capitals where only the user knows them. */
  window(model: string, tokens: number | "N"): string;
}

const FLAGS: Settings = {
  upstream: (url) => `--upstream ${url}`,
  key: () => "--key YOUR_KEY",
  dialect: (name) => `--dialect ${name}`,
  window: (_model, tokens) => `--window ${tokens}`,
};

const FILE: Settings = {
  upstream: (url) => `url: ${url}`,
  // A key belongs into the environment, not into a file.
  key: () => `key: "\${UPSTREAM_KEY}"`,
  dialect: (name) => `dialect: ${name}`,
  window: (model, tokens) => rule(model, `window: ${tokens}`),
};

/** @param source where the upstream's URL comes from */
export function settingsOf(source: Source): Settings {
  return source === "file" ? FILE : FLAGS;
}

/** A rule of the config file for one model, or for all of them (`*`). */
export function rule(model: string, setting: string): string {
  return `models: [{ match: "${model === "*" ? model : pasteable(model)}", ${setting} }]`;
}
