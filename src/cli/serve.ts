import { readFileSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type App, createApp } from "../app.ts";
import { type Loaded, loadConfig } from "../config/load.ts";
import { type Problem, problemText } from "../config/problem.ts";
import type { Flags } from "../config/settings.ts";
import type { LogSink } from "../events/log.ts";
import { stderrSink } from "../events/sinks.ts";
import { createServices, type Services } from "../services.ts";
import { VERSION } from "../version.ts";
import { EXIT } from "./commands.ts";

export interface ServeOptions {
  /** `--config`; undefined: `LASTWORD_CONFIG`, else none. */
  readonly config: string | undefined;
  readonly flags: Flags;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Editors write a file in several steps: it is read once they have settled. */
const SETTLE_MS = 100;

/** Runs the proxy until SIGTERM or SIGINT. @returns the exit code */
export async function serve(options: ServeOptions, env: Environment): Promise<number> {
  const path = options.config ?? env.LASTWORD_CONFIG;
  const loaded = read(path, options.flags, env);
  if ("problems" in loaded) {
    process.stderr.write(complaint(path, loaded.problems));
    return EXIT.problem;
  }
  const { listen } = loaded.config;
  const services = start(loaded, await stderrSink(), env);
  const app = createApp(services);
  let url: string;
  try {
    ({ url } = await app.listen(listen.host, listen.port));
  } catch (error) {
    const code = (error as { code?: string }).code ?? "unknown error";
    process.stderr.write(
      `lastword cannot listen on ${listen.host}:${listen.port} (${code}). Another port: --port N, or --port 0 for any free one.\n`,
    );
    await services.close();
    return EXIT.problem;
  }
  process.stdout.write(`lastword listening on ${url}\n`);
  const unwatch = path === undefined ? () => undefined : reloads(path, options.flags, env, services);
  await signal();
  unwatch();
  await app.close(services.config().limits.drainSeconds);
  await services.close();
  return EXIT.ok;
}

/** Services of one process. */
export function start(loaded: Loaded, sink: LogSink, env: Environment): Services {
  const viaProxy = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].some((name) => (env[name] ?? "") !== "");
  return createServices({ config: loaded.config, version: VERSION, sink, viaProxy });
}

/** The app over a configuration, for whoever needs a proxy within the process. */
export async function startApp(
  loaded: Loaded,
  sink: LogSink,
  env: Environment,
): Promise<{ readonly url: string; readonly app: App; readonly services: Services }> {
  const services = start(loaded, sink, env);
  const app = createApp(services);
  const { url } = await app.listen(loaded.config.listen.host, loaded.config.listen.port);
  return { url, app, services };
}

export function read(
  path: string | undefined,
  flags: Flags,
  env: Environment,
): Loaded | { readonly problems: readonly Problem[] } {
  let file: string | null = null;
  if (path !== undefined) {
    try {
      file = readFileSync(path, "utf8");
    } catch (error) {
      const code = (error as { code?: string }).code ?? "unreadable";
      return {
        problems: [
          {
            at: "--config",
            line: null,
            expected: "a file that can be read",
            found: `${path} (${code})`,
            nearest: null,
          },
        ],
      };
    }
  }
  return loadConfig({ flags, env, file });
}

export function complaint(path: string | undefined, problems: readonly Problem[]): string {
  const many = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.map((problem) => `  ${problemText(problem)}\n`);
  return `lastword: ${many} in the configuration${path === undefined ? "" : ` (${path})`}\n${lines.join("")}`;
}

/** Reads the file again when it changes and on SIGHUP. A bad one is refused with its errors, and the old one stays. */
function reloads(path: string, flags: Flags, env: Environment, services: Services): () => void {
  let timer: NodeJS.Timeout | null = null;
  const reload = () => {
    const next = read(path, flags, env);
    if ("problems" in next) {
      for (const problem of next.problems)
        services.log.say("error", "the new configuration is refused", { problem: problemText(problem) });
      services.bus.emit({ type: "config", change: "refused", problems: next.problems.length });
    } else if (next.config.revision !== services.config().revision) {
      services.reload(next.config);
      services.bus.emit({ type: "config", change: "reloaded", problems: 0 });
    }
  };
  const soon = () => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(reload, SETTLE_MS);
  };
  // The folder, not the file: editors and mounted config maps replace the file by another.
  const full = resolve(path);
  const watcher = watch(dirname(full), (_event, name) => {
    if (name === null || name === basename(full) || name === "..data") soon();
  });
  process.on("SIGHUP", reload);
  return () => {
    if (timer !== null) clearTimeout(timer);
    watcher.close();
    process.off("SIGHUP", reload);
  };
}

function signal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => resolve());
  });
}
