import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Services } from "../services.ts";
import { Changes } from "./changes.ts";
import { modelLines, upstreamLines } from "./facts.ts";
import type { Update } from "./update.ts";

/** How often a watcher is told of what has changed. */
const EVERY_MS = 250;
/** How often upstreams are asked whether they are there, while somebody looks. */
const ASK_MS = 30_000;
/** So that either side notices a connection that is dead. The page waits for three of them. */
const HEARTBEAT_MS = 10_000;

/**
 * Server-sent events for one open page, until it is closed or lastword stops. All that they cost begins and ends here:
 * no timer and no subscription is left when nobody looks.
 */
export async function feed(services: Services, response: ServerResponse, stopping: AbortSignal): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  response.on("close", end);
  stopping.addEventListener("abort", end);
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    // A feed ends when lastword stops: the socket must not stay behind.
    connection: "close",
    // A buffering proxy in between would show nothing for minutes.
    "x-accel-buffering": "no",
  });

  const changes = new Changes();
  const reach = new Map<string, string | null>();
  const send = (update: Update) => {
    if (Object.keys(update).length > 0) response.write(`data: ${JSON.stringify(update)}\n\n`);
  };
  const facts = () => changes.parts({ upstreams: upstreamLines(services, reach), models: modelLines(services) });
  const ask = () => asked().catch((error: unknown) => void services.fault(error));
  const asked = async () => {
    await Promise.all(
      services.servers().map(async (server) => {
        reach.set(server.name, await server.unready(null));
        await services.windows.listed(server, null);
      }),
    );
    if (!over.signal.aborted) send(facts());
  };
  let learned = false;
  const unsubscribe = services.bus.subscribe(({ type }) => {
    learned ||= type === "learned" || type === "config";
  });
  const asking = setInterval(() => void ask(), ASK_MS);
  const heartbeat = setInterval(() => response.write(":\n\n"), HEARTBEAT_MS);
  try {
    send({ first: { version: services.version, now: Date.now() }, ...facts() });
    void ask();
    for await (const snapshot of services.board.watch(EVERY_MS, over.signal)) {
      const update = changes.of(snapshot);
      const tallies = update.ended === undefined ? {} : changes.parts({ tallies: services.tallies.list() });
      send({ ...update, ...tallies, ...(learned ? facts() : {}) });
      learned = false;
      // A page that does not keep up is told less often; it misses nothing.
      if (response.writableNeedDrain) await once(response, "drain", { signal: over.signal });
    }
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    unsubscribe();
    clearInterval(asking);
    clearInterval(heartbeat);
    stopping.removeEventListener("abort", end);
    response.end();
  }
}
