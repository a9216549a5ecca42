import type { Event } from "./event.ts";
import type { Metrics } from "./metrics.ts";

/** What `prom-client` names the format that it writes. */
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Metrics that are made with the first event or scrape, for their library is not needed in order to listen. No event is lost. */
export function lateMetrics(make: () => Promise<Metrics>): Metrics {
  const held: Event[] = [];
  let making: Promise<Metrics> | null = null;
  let made: Metrics | null = null;

  async function start(): Promise<Metrics> {
    const metrics = await make();
    for (const event of held.splice(0)) metrics.event(event);
    made = metrics;
    return metrics;
  }

  return {
    event(event) {
      if (made !== null) return made.event(event);
      held.push(event);
      making ??= start();
    },
    async text() {
      making ??= start();
      return (await making).text();
    },
    async parts() {
      making ??= start();
      return (await making).parts();
    },
    contentType: CONTENT_TYPE,
  };
}
