/** The parts of undici that the client is made of. It has no export map, and types for its whole only. */
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}

declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  export { EnvHttpProxyAgent as default } from "undici";
}

declare module "undici/lib/core/errors.js" {
  export { errors as default } from "undici";
}
