import type { ContenderName, Start } from "./contender.ts";
import { startHono } from "./hono.ts";
import { startLastword } from "./lastword.ts";
import { startNginx } from "./nginx.ts";
import { startPortkey } from "./portkey.ts";

export const START: Readonly<Record<ContenderName, Start>> = {
  direct: async (upstreamPort) => ({ port: upstreamPort, process: null, headers: {} }),
  nginx: startNginx,
  hono: (upstreamPort) => startHono(upstreamPort, "as shipped"),
  "hono-long": (upstreamPort) => startHono(upstreamPort, "long"),
  portkey: startPortkey,
  lastword: startLastword,
};
