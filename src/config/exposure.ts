import type { Config } from "./load.ts";
import { isLoopback } from "./loopback.ts";

/**
 * Whether whoever reaches this address could spend an upstream's key. `address`: what a name like `localhost` has resolved to,
 * which is not always this machine's own. The rule by names alone is a check of the configuration.
 */
export function exposesKey({ listen, upstreams, runtime }: Config, address: string): boolean {
  if (runtime.allowOpen || listen.keys.length > 0 || isLoopback(address)) return false;
  return upstreams.some(({ key, basic, query }) => key !== "" || basic !== "" || query !== "");
}
