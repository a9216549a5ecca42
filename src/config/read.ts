import { readFileSync } from "node:fs";
import type { Problem } from "./problem.ts";
import { type Loaded, NO_FILE, resolveConfig, type Settings } from "./resolve.ts";

/** The config file that was named, by flag or else by environment; null for none. */
export function configPath(flag: string | undefined, env: Settings["env"]): string | null {
  const path = flag ?? env.LASTWORD_CONFIG ?? "";
  return path === "" ? null : path;
}

/** Reads the file at `path`, if any, and loads the configuration; a reload is the same call again. Never throws. */
export async function readConfig(
  path: string | null,
  flags: Settings["flags"],
  env: Settings["env"],
): Promise<Loaded | { readonly problems: readonly Problem[] }> {
  if (path === null) return resolveConfig(NO_FILE, { flags, env });
  // YAML is loaded only where there is a file to read.
  const { loadConfig } = await import("./load.ts");
  let file: string;
  try {
    file = readFileSync(path, "utf8");
  } catch (error) {
    const found = `${path} unreadable (${error instanceof Error && "code" in error ? String(error.code) : "unknown reason"})`;
    return { problems: [{ at: "config", line: null, expected: "a file that can be read", found, nearest: null }] };
  }
  return loadConfig({ flags, env, file });
}
