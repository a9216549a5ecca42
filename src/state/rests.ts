import { asNumber, asObject, asString, parseJson } from "../core/json.ts";
import type { Server } from "../upstream/server.ts";
import { nameFor, type Store } from "./redis.ts";

const CHANNEL = "lastword:1:rests";
/** Seconds: an upstream that asks for more is asked again anyway. */
const LONGEST = 3_600;

/**
 * What an upstream told one replica of its rate limit (429 and `Retry-After`), told to the others at once, so that they turn to another
 * upstream of the model without asking it too. Nothing is kept: who comes later finds out for itself.
 */
export class Rests {
  readonly #store: Store;
  readonly #servers: () => readonly Server[];
  readonly #unsubscribe: () => void;

  constructor(store: Store, servers: () => readonly Server[]) {
    this.#store = store;
    this.#servers = servers;
    this.#unsubscribe = store.subscribe(CHANNEL, (message) => this.#heard(message));
  }

  tell(server: Server, seconds: number): void {
    const told = JSON.stringify({ of: nameOf(server), seconds });
    void this.#store.ask("nobody", (redis) => redis.publish(CHANNEL, told));
  }

  close(): void {
    this.#unsubscribe();
  }

  /** One's own word comes back too, and changes nothing. */
  #heard(message: string): void {
    const told = asObject(parseJson(message));
    const of = asString(told?.of);
    const seconds = asNumber(told?.seconds) ?? 0;
    if (seconds <= 0) return;
    for (const server of this.#servers())
      if (nameOf(server) === of) server.health.limited(performance.now(), Math.min(seconds, LONGEST));
  }
}

/** Replicas may call an upstream by different names. */
function nameOf({ config }: Server): string {
  return nameFor("rest", config.url);
}
