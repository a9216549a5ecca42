import cluster from "node:cluster";
import { watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type App, createApp, type Listening } from "../app.ts";
import { type Answer, amongWorkers, type Message, type Peers } from "../cluster/peers.ts";
import { runPrimary } from "../cluster/primary.ts";
import { exposesKey } from "../config/exposure.ts";
import type { Environment } from "../config/interpolate.ts";
import type { Config, Loaded } from "../config/load.ts";
import { type Problem, problemText } from "../config/problem.ts";
import { configPath, readConfig } from "../config/read.ts";
import type { Flags } from "../config/settings.ts";
import { createLog, type LogSink } from "../events/log.ts";
import { stderrSink } from "../events/sinks.ts";
import { createServices, type Services } from "../services.ts";
import { VERSION } from "../version.ts";
import { EXIT } from "./commands.ts";
import { viaProxy } from "./environment.ts";
import { keepRequestsYoung } from "./garbage.ts";
import { exposedError, type ListenError, listenError } from "./listen-error.ts";

interface ServeOptions {
  /** `--config`; undefined: `LASTWORD_CONFIG`, else none. */
  readonly config: string | undefined;
  readonly flags: Flags;
}

/** Editors write a file in several steps: it is read once they have settled. */
const SETTLE_MS = 100;

/** Runs the proxy until SIGTERM or SIGINT. @returns the exit code */
export async function serve({ config: named, flags }: ServeOptions, env: Environment): Promise<number> {
  const path = configPath(named, env);
  const loaded = await readConfig(path, flags, env);
  if ("problems" in loaded) {
    process.stderr.write(complaint(path, loaded.problems));
    return EXIT.problem;
  }
  const { workers, logLevel } = loaded.config.runtime;
  if (workers > 1 && cluster.isPrimary) {
    const log = createLog(logLevel, stderrSink());
    return runPrimary({
      workers,
      log,
      listening: (url) => void process.stdout.write(`lastword listening on ${url}\n`),
    });
  }
  const services = start(loaded, stderrSink(), env, cluster.isWorker ? amongWorkers : undefined);
  const app = createApp(services);
  const listening = await listen(app, loaded.config);
  if ("says" in listening) {
    process.stderr.write(`${listening.says} Try: lastword ${listening.fix}\n`);
    await services.close();
    // A worker lives as long as its line to the first process.
    if (cluster.isWorker) process.disconnect();
    return EXIT.problem;
  }
  // Before anybody is told that it runs: no signal and no change after that is missed.
  const stopped = signal();
  const unwatch = path === null ? () => undefined : reloads(path, flags, env, services, listening);
  // Of several workers, the first process says it once for all.
  if (cluster.isPrimary) process.stdout.write(`lastword listening on ${listening.url}\n`);
  void keepRequestsYoung();
  void app.warm();
  await stopped;
  unwatch();
  await app.close(services.config().limits.drainSeconds);
  await services.close();
  if (cluster.isWorker) await lastTallies(services);
  return EXIT.ok;
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

function start(loaded: Loaded, sink: LogSink, env: Environment, peers?: (answer: Answer) => Peers): Services {
  const options = { config: loaded.config, version: VERSION, sink, viaProxy: viaProxy(env) };
  return createServices(peers === undefined ? options : { ...options, peers });
}

/** The first process prints one line per model for all workers. */
function lastTallies(services: Services): Promise<void> {
  return new Promise((resolve) => {
    const message: Message = { lastword: "tallies", tallies: services.tallies.list() };
    if (process.send === undefined) resolve();
    else
      process.send(message, undefined, undefined, () => {
        process.disconnect();
        resolve();
      });
  });
}

/** Listens, unless that would let strangers spend an upstream's key. */
async function listen(app: App, config: Config): Promise<Listening | ListenError> {
  const { host, port } = config.listen;
  try {
    const listening = await app.listen(host, port);
    if (!exposesKey(config, listening.address)) return listening;
    await app.close(0);
    return exposedError(host, listening.address, port);
  } catch (error) {
    return listenError(error, host, port);
  }
}

function complaint(path: string | null, problems: readonly Problem[]): string {
  const many = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.map((problem) => `  ${problemText(problem)}\n`);
  const fixes = `lastword check tells how to mend ${problems.length === 1 ? "it" : "each"}.\n`;
  return `lastword: ${many} in the configuration${path === null ? "" : ` (${path})`}\n${lines.join("")}${fixes}`;
}

/** Reads the file again when it changes and on SIGHUP. A bad one is refused with its errors, and the old one stays. */
function reloads(path: string, flags: Flags, env: Environment, services: Services, bound: Listening): () => void {
  const { host, port } = services.config().listen;
  let revision = services.config().revision;

  async function reload(): Promise<void> {
    const next = await readConfig(path, flags, env);
    // The file may name another address by now; the one that is bound is what strangers reach.
    if ("problems" in next) refuse(next.problems.map(problemText));
    else if (exposesKey(next.config, bound.address)) refuse([exposedError(host, bound.address, port).says]);
    else if (next.config.revision !== revision) apply(next.config);
  }

  function refuse(problems: readonly string[]): void {
    for (const problem of problems) services.log.say("error", "the new configuration is refused", { problem });
    services.bus.emit({ type: "config", change: "refused", problems: problems.length });
  }

  function apply(config: Config): void {
    revision = config.revision;
    if (config.listen.host !== host || config.listen.port !== port)
      services.log.say("warn", "another listen address takes effect at the next start", { listening: bound.url });
    services.reload({ ...config, listen: { ...config.listen, host, port } });
    services.bus.emit({ type: "config", change: "reloaded", problems: 0 });
  }

  const reloadSoon = () => void reload();
  const unwatch = watchFile(path, reloadSoon, (code) =>
    services.log.say("warn", "changes of the config file are not seen; SIGHUP reloads it", { code }),
  );
  process.on("SIGHUP", reloadSoon);
  return () => {
    unwatch();
    process.off("SIGHUP", reloadSoon);
  };
}

/** @param lost the file cannot be watched, now or any more */
function watchFile(path: string, changed: () => void, lost: (code: string) => void): () => void {
  const full = resolve(path);
  let timer: NodeJS.Timeout | null = null;
  const stop = () => {
    if (timer !== null) clearTimeout(timer);
  };
  try {
    // The folder, not the file: editors and mounted config maps replace the file by another.
    const watcher = watch(dirname(full), (_event, name) => {
      if (name !== null && name !== basename(full) && name !== "..data") return;
      stop();
      timer = setTimeout(changed, SETTLE_MS);
    });
    watcher.on("error", (error) => lost((error as { code?: string }).code ?? error.name));
    return () => {
      stop();
      watcher.close();
    };
  } catch (error) {
    lost((error as { code?: string }).code ?? "unknown error");
    return stop;
  }
}

function signal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => resolve());
  });
}
