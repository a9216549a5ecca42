import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { printed, script, spawnPinned } from "../child.ts";
import type { Running } from "./contender.ts";

/** One model is to be nudged, although its server could resume. All else is as shipped: budget and healing on, log and metrics too. */
const CONFIG = (upstreamPort: number) => `
upstreams: [{ name: server, url: "http://127.0.0.1:${upstreamPort}/v1" }]
models:
  - { match: nudged, upstream: server, continue: nudge }
`;

/** @param workers processes, which share all cores; absent: one, on its own core */
export async function startLastword(
  upstreamPort: number,
  folder: string,
  { probe, workers }: { readonly probe?: LoopProbe; readonly workers?: number } = {},
): Promise<Running> {
  const file = join(folder, `lastword-${upstreamPort}.yaml`);
  writeFileSync(file, CONFIG(upstreamPort));
  const preload = probe === undefined ? [] : ["--import", script("contenders/loop-probe")];
  const command = [process.execPath, ...preload, "dist/main.js", "serve", "--config", file, "--port", "0"];
  if (workers !== undefined) command.push("--workers", String(workers));
  const env = { ...process.env, ...(probe === undefined ? {} : { LASTWORD_BENCH_PROBE: probe.file }) };
  const server = spawnPinned(workers === undefined ? "contender" : "all", command, env);
  const [, port] = await printed(server, /lastword listening on http:\/\/[^:]+:(\d+)/);
  return { port: Number(port), process: server, headers: {} };
}

/** Where the process writes how long its loop was held. */
export interface LoopProbe {
  readonly file: string;
}
