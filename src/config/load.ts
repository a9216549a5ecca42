import type { Problem } from "./problem.ts";
import { type Loaded, NO_FILE, resolveConfig, type Settings } from "./resolve.ts";
import { readYaml } from "./yaml.ts";

export type { Config, Loaded } from "./resolve.ts";

export interface Inputs extends Settings {
  /** The config file's text; null where none was named. */
  readonly file: string | null;
}

/** Reads the file's text and lays flags and environment over it. Pure: a configuration without fault, or all faults at once. */
export function loadConfig(inputs: Inputs): Loaded | { readonly problems: readonly Problem[] } {
  const text = inputs.file === null ? NO_FILE : readYaml(inputs.file);
  return "problems" in text ? text : resolveConfig(text, inputs);
}
