import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's folder. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Whether a program is on this machine. Where it is not, what needs it is skipped, and so counted as skipped; this says so aloud.
 * `from`: how to get it.
 */
export function has(program: string, from: string): boolean {
  const found = (process.env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, program)));
  if (!found) console.warn(`SKIPPED: ${program} is not on this machine (${from})`);
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Ran {
  /** null: it could not be started, or was killed. */
  readonly code: number | null;
  /** stdout and stderr. */
  readonly text: string;
}

/** Runs a program to its end, in the project's folder. */
export function run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...process.env, ...env }, timeout: 60_000 };
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
      resolve({ code, text: `${stdout}${stderr}` });
    });
  });
}
