import type { Environment } from "../config/interpolate.ts";

/** Whether upstreams are reached through a proxy; `NO_PROXY` decides per host. */
export function viaProxy(env: Environment): boolean {
  return ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].some((name) => (env[name] ?? "") !== "");
}
