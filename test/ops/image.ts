import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { ROOT } from "./tools.ts";

export interface Image {
  /** What the image's last stage holds, `/app` among it. */
  readonly folder: string;
  /** As HEALTHCHECK says it. */
  readonly healthcheck: readonly string[];
  remove(): void;
}

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/**
 * What `docker build` would put into the image, without Docker: the Dockerfile's own COPY and RUN lines, played in folders.
 * Only `npm ci` is left out: the packages that are installed here are used.
 */
export async function buildImage(): Promise<Image> {
  const root = mkdtempSync(join(tmpdir(), "lastword-image-"));
  const stages = { build: join(root, "build"), last: join(root, "last") };
  const instructions = readInstructions();
  const last = instructions.findLastIndex(({ name }) => name === "FROM");
  for (const [at, { name, rest }] of instructions.entries()) {
    const stage = at < last ? stages.build : stages.last;
    const from = rest.startsWith("--from=build ") ? stages.build : null;
    if (name === "COPY") copy(rest.replace(/^--from=build /, ""), from, stage, at < last ? "/src" : "/app");
    if (name === "RUN") await perform(rest, join(stage, "src"));
  }
  const healthcheck = instructions.find(({ name }) => name === "HEALTHCHECK")?.rest.replace(/^.*? CMD /, "") ?? "[]";
  return {
    folder: stages.last,
    healthcheck: JSON.parse(healthcheck),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function readInstructions(): Instruction[] {
  const lines = readFileSync(join(ROOT, "Dockerfile"), "utf8").split("\n");
  return lines
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => ({ name: line.slice(0, line.indexOf(" ")), rest: line.slice(line.indexOf(" ") + 1) }));
}

/** `from`: the stage that is copied from; null: the project, as .dockerignore lets it be seen. */
function copy(words: string, from: string | null, stage: string, workdir: string): void {
  const sources = words.split(" ");
  const target = join(stage, workdir, sources.pop() ?? "");
  const seen = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n");
  for (const source of sources) {
    if (from === null && !seen.includes(`!${source}`)) throw new Error(`.dockerignore hides ${source}`);
    const path = words.endsWith("./") ? join(target, source.split("/").at(-1) ?? "") : target;
    mkdirSync(dirname(path), { recursive: true });
    cpSync(join(from ?? ROOT, source), path, { recursive: true });
  }
}

async function perform(command: string, folder: string): Promise<void> {
  if (command.startsWith("npm ci")) symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  else await promisify(execFile)("sh", ["-c", command], { cwd: folder });
}

export interface Running extends AsyncDisposable {
  readonly url: string;
  /** Runs a program where it runs, as the same user. @returns its exit code */
  exec(command: readonly string[]): Promise<number | null>;
  /** As `docker stop` does. @returns its exit code */
  stop(): Promise<number | null>;
}

/** Of nobody, who owns nothing. The Dockerfile's USER. */
const NOBODY = "65534";

/** As a container would run it: another user, no rights, nothing that can be written, no environment but what is given. */
function confined(folder: string, command: readonly string[]): [string, string[]] {
  const readOnly = 'mount -o remount,bind,ro / && cd "$0" && exec "$@"';
  const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"];
  return [
    "unshare",
    ["--mount", "sh", "-c", readOnly, join(folder, "app"), ...asNobody, "--inh-caps=-all", ...command],
  ];
}

export async function runImage(image: Image, env: Record<string, string>): Promise<Running> {
  chmodSync(dirname(image.folder), 0o755);
  const [program, args] = confined(image.folder, [process.execPath, "dist/main.js", "serve"]);
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const first = await Promise.race([firstLine(child), once(child, "exit").then(() => null)]);
  const url = /listening on (\S+)/.exec(first ?? "")?.[1];
  if (url === undefined) throw new Error(`it did not start: ${first}`);
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    return child.exitCode;
  };
  return {
    url: url.replace("0.0.0.0", "127.0.0.1"),
    async exec(command) {
      const [helper, rest] = confined(
        image.folder,
        command.map((word) => (word === "node" ? process.execPath : word)),
      );
      const port = new URL(url).port;
      const ran = spawn(helper, rest, { env: { ...env, LASTWORD_PORT: port }, stdio: "ignore" });
      const [code] = (await once(ran, "exit")) as [number | null];
      return code;
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

async function firstLine(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface({ input: child.stdout })) return line;
  return null;
}
