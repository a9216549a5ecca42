import { type Counter, createCounter } from "./budget/count.ts";
import { TokenizerThread } from "./budget/tokenizer/thread.ts";
import { createMeasurer, nextTurn } from "./budget/tokenizers.ts";
import { Windows } from "./budget/window.ts";
import { type Answer, alone, type Peers } from "./cluster/peers.ts";
import type { Config } from "./config/load.ts";
import { type Failure, failure } from "./core/error.ts";
import { type Bus, createBus } from "./events/bus.ts";
import { lateMetrics } from "./events/late-metrics.ts";
import { type Board, createBoard } from "./events/live.ts";
import { createLog, type Log, type LogSink } from "./events/log.ts";
import type { Metrics } from "./events/metrics.ts";
import { modelLabels } from "./events/names.ts";
import { createTallies, type Tallies } from "./events/tally.ts";
import type { Traces } from "./events/traces.ts";
import { createGuard, type Guard } from "./http/guard.ts";
import { Replays } from "./http/replays.ts";
import { Running } from "./http/running.ts";
import { status } from "./http/status.ts";
import type { Shared } from "./recovery/job.ts";
import { Validator } from "./schema/validator.ts";
import { createState, type SharedState } from "./state/state.ts";
import { type Client, createClient } from "./upstream/client.ts";
import { Knowledge } from "./upstream/knowledge.ts";
import { Server } from "./upstream/server.ts";

export interface ServicesOptions {
  readonly config: Config;
  readonly version: string;
  readonly sink: LogSink;
  /** HTTP_PROXY or HTTPS_PROXY is set. */
  readonly viaProxy: boolean;
  /** How this process asks others that share its port; absent: there are none. */
  readonly peers?: (answer: Answer) => Peers;
  /** Traces are sent to where `OTEL_EXPORTER_OTLP_ENDPOINT` says. @default false */
  readonly tracing?: boolean;
  /** After how long a silent replica counts as dead, in milliseconds. @default 5000 */
  readonly leaseMs?: number;
}

/** Every part, built once, and what a new configuration replaces of them. */
export interface Services {
  config(): Config;
  guard(): Guard;
  /** @throws Error for a name that no upstream has: names come from the config alone */
  server(name: string): Server;
  servers(): readonly Server[];
  /** For new requests only: those under way keep what they began with. */
  reload(config: Config): void;
  nextId(): string;
  /** What a fault of lastword's own is to a client; it is logged by its name, never by its message. */
  fault(error: unknown): Failure;
  close(): Promise<void>;
  readonly version: string;
  readonly bus: Bus;
  readonly board: Board;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tallies: Tallies;
  readonly windows: Windows;
  readonly counter: Counter;
  readonly knowledge: Knowledge;
  readonly replays: Replays;
  /** What is shared with other replicas; null: nothing is. */
  readonly state: SharedState | null;
  readonly running: Running;
  readonly peers: Peers;
  readonly shared: Shared;
}

export function createServices(options: ServicesOptions): Services {
  let config = options.config;
  let guard = createGuard(config.listen);
  const client = createClient({ connectSeconds: config.limits.connectSeconds, viaProxy: options.viaProxy });
  let servers = serversOf(config, client, new Map());

  const log = createLog(config.runtime.logLevel, options.sink);
  const bus = createBus((error) => log.say("error", "an event subscriber failed", { error: nameOf(error) }));
  const label = modelLabels(config.limits.maxModelLabels);
  const metrics = lateMetrics(async () => {
    const { createMetrics } = await import("./events/metrics.ts");
    return createMetrics({ version: options.version, label });
  });
  const tallies = createTallies(label);
  const board = createBoard({ now: Date.now, wait });
  for (const part of [metrics, tallies, board, log]) bus.subscribe((event) => part.event(event));

  const traces = options.tracing === true ? startTraces() : null;

  const knowledge = new Knowledge();
  const windows = new Windows(knowledge, () => config.budget.windowTtlSeconds * 1000);
  const validator = new Validator();
  const tokenizer = new TokenizerThread();
  const counter = createCounter(createMeasurer(tokenizer.measure), nextTurn);
  const replays = new Replays(() => config.limits);
  const { leaseMs } = options;
  const state = createState({
    config: () => config,
    log,
    knowledge,
    counter,
    servers: () => [...servers.values()],
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });
  const fault = (error: unknown) => {
    log.say("error", "a request failed within lastword", { error: nameOf(error), at: placeOf(error) });
    return failure("upstream_error", "lastword failed at this request; its log says where.", { internal: true });
  };
  let ids = 0;
  const run = Math.random().toString(36).slice(2, 8);

  async function startTraces(): Promise<Traces> {
    const { createTraces } = await import("./events/traces.ts");
    const started = createTraces({
      version: options.version,
      provider: (upstream) => servers.get(upstream)?.dialectNow.name ?? "unknown",
      onFault: (error) => log.say("warn", "traces could not be delivered", { error: nameOf(error) }),
    });
    bus.subscribe((event) => started.event(event));
    return started;
  }

  const services: Services = {
    config: () => config,
    guard: () => guard,
    server(name) {
      const server = servers.get(name);
      if (server === undefined) throw new Error(`no upstream ${name}`);
      return server;
    },
    servers: () => [...servers.values()],
    reload(next) {
      config = next;
      guard = createGuard(next.listen);
      servers = serversOf(next, client, servers);
    },
    nextId: () => `lw-${run}-${(++ids).toString(36)}`,
    fault,
    async close() {
      replays.close();
      await state?.close();
      await Promise.all([client.close(), validator.close(), tokenizer.close()]);
      await (await traces)?.close();
      // Of several processes, the first tells the tallies of all.
      if (options.peers === undefined) log.tally(tallies.list());
      await log.close();
    },
    version: options.version,
    bus,
    board,
    log,
    metrics,
    tallies,
    windows,
    knowledge,
    replays,
    state,
    running: new Running(),
    counter,
    peers: (options.peers ?? alone)((question) =>
      question === "metrics" ? metrics.parts() : Promise.resolve(status(services)),
    ),
    shared: {
      bus,
      knowledge,
      windows,
      counter,
      validate: validator.validate,
      limited: (server, seconds) => state?.rests.tell(server, seconds),
      fault,
    },
  };
  return services;
}

/** An upstream that a new configuration leaves as it was keeps its connections and what it was found to be. */
function serversOf(config: Config, client: Client, before: ReadonlyMap<string, Server>): Map<string, Server> {
  return new Map(
    config.upstreams.map((upstream) => {
      const known = before.get(upstream.name);
      const same = known !== undefined && JSON.stringify(known.config) === JSON.stringify(upstream);
      return [upstream.name, same ? known : new Server(upstream, client)];
    }),
  );
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** File and line where it was thrown, without the message, which may quote a request. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  return /\n\s+at (.+)/.exec(stack)?.[1] ?? "";
}
