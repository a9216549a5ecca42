import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

interface Bundle {
  /** Path of the built `main.js`. */
  readonly main: string;
  remove(): void;
}

/** What `npm run build` makes, in a folder of its own: the flags are those of package.json. */
export async function buildBundle(): Promise<Bundle> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: { build: string };
  };
  const folder = mkdtempSync(join(tmpdir(), "lastword-bundle-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  // What else is built is for browsers.
  const [command = ""] = scripts.build.split(" && ");
  const [tool = "", ...flags] = words(command);
  const kept = flags.filter((flag) => !flag.startsWith("--outdir="));
  const esbuild = join(root, "node_modules", tool, "bin", tool);
  await promisify(execFile)(esbuild, [...kept, `--outdir=${folder}`], { cwd: root });
  return { main: join(folder, "main.js"), remove: () => rmSync(folder, { recursive: true }) };
}

/** Splits a command line as a shell does, as far as double quotes go. */
function words(line: string): string[] {
  return (line.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll('"', ""));
}
