import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { problemText } from "../../src/config/problem.ts";
import type { Event } from "../../src/events/event.ts";
import { createServices, type Services } from "../../src/services.ts";
import type { Upstream } from "./upstream.ts";

export interface Lastword extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly root: string;
  /** Base with `/v1`, as a client has it. */
  readonly url: string;
  readonly services: Services;
  /** All that was told on the bus, in order. */
  readonly events: readonly Event[];
  /** Log lines as they would be written: level, message and fields. */
  readonly logged: readonly string[];
  finished(n?: number): Promise<Extract<Event, { type: "finished" }>>;
  close(): Promise<void>;
  /** Stops as a signal would, with this much time for running replies, in seconds. */
  stop(drainSeconds: number): Promise<void>;
}

export interface ProxyOptions {
  /** Recovery settings on top of quick ones: no wait between retries. */
  readonly recovery?: Record<string, unknown>;
  readonly budget?: Record<string, unknown>;
  readonly limits?: Record<string, unknown>;
  readonly listen?: Record<string, unknown>;
  readonly state?: Record<string, unknown>;
  readonly leaseMs?: number;
  readonly models?: readonly Record<string, unknown>[];
  readonly upstreams?: readonly Record<string, unknown>[];
  readonly logLevel?: string;
  /** @default false */
  readonly tracing?: boolean;
}

/** The whole proxy within the test's process, in front of one scripted upstream (or those of `upstreams`). */
export async function startProxy(
  upstream: Pick<Upstream, "url" | "dialect">,
  options: ProxyOptions = {},
): Promise<Lastword> {
  const file = JSON.stringify({
    listen: { port: 0, ...options.listen },
    upstreams: options.upstreams ?? [{ name: "up", url: upstream.url, dialect: upstream.dialect }],
    models: options.models ?? [],
    budget: options.budget ?? {},
    recovery: { retryBackoffSeconds: [0, 0], minAttemptSeconds: 1, ...options.recovery },
    limits: options.limits ?? {},
    state: options.state ?? {},
  });
  const loaded = loadConfig({ flags: { "log-level": options.logLevel ?? "debug" }, env: {}, file });
  if ("problems" in loaded) throw new Error(loaded.problems.map(problemText).join("\n"));
  const logged: string[] = [];
  const events: Event[] = [];
  const services = createServices({
    config: loaded.config,
    version: "test",
    sink: {
      write: (level, message, fields) => logged.push(JSON.stringify({ level, message, ...fields })),
      close: () => undefined,
    },
    viaProxy: false,
    tracing: options.tracing ?? false,
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
  });
  const waiting = new Set<() => void>();
  services.bus.subscribe((event) => {
    events.push(event);
    for (const wake of waiting) wake();
  });
  const app = createApp(services);
  const { url } = await app.listen("127.0.0.1", 0);
  const close = async () => {
    await app.close(0);
    await services.close();
  };
  const ends = () => events.filter((event) => event.type === "finished");
  return {
    root: url,
    url: `${url}/v1`,
    services,
    events,
    logged,
    finished: (n = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const end = ends()[n - 1];
          if (end === undefined) return;
          waiting.delete(look);
          resolve(end);
        };
        waiting.add(look);
        look();
      }),
    close,
    stop: (drainSeconds) => app.close(drainSeconds),
    [Symbol.asyncDispose]: close,
  };
}
