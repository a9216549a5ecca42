import { readFileSync } from "node:fs";
import { type Inputs, type Loaded, loadConfig } from "./load.ts";
import type { Problem } from "./problem.ts";

/** The config file that was named, by flag or else by environment; null for none. */
export function configPath(flag: string | undefined, env: Inputs["env"]): string | null {
  const path = flag ?? env.LASTWORD_CONFIG ?? "";
  return path === "" ? null : path;
}

/** Reads the file at `path`, if any, and loads the configuration; a reload is the same call again. Never throws. */
export function readConfig(
  path: string | null,
  flags: Inputs["flags"],
  env: Inputs["env"],
): Loaded | { readonly problems: readonly Problem[] } {
  if (path === null) return loadConfig({ flags, env, file: null });
  let file: string;
  try {
    file = readFileSync(path, "utf8");
  } catch (error) {
    const found = `${path} unreadable (${error instanceof Error && "code" in error ? String(error.code) : "unknown reason"})`;
    return { problems: [{ at: "config", line: null, expected: "a file that can be read", found, nearest: null }] };
  }
  return loadConfig({ flags, env, file });
}
