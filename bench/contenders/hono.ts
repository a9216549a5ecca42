import { printed, script, spawnPinned } from "../child.ts";
import type { Running } from "./contender.ts";

/** @param keepAlive how long upstream connections are kept: as undici ships (4 s), or longer than any pause of the bench */
export async function startHono(upstreamPort: number, keepAlive: "as shipped" | "long"): Promise<Running> {
  const url = `http://127.0.0.1:${upstreamPort}`;
  const command = [
    process.execPath,
    script("contenders/hono-server"),
    url,
    ...(keepAlive === "long" ? ["120000"] : []),
  ];
  const server = spawnPinned("contender", command);
  const [, port] = await printed(server, /listening on (\d+)/);
  return { port: Number(port), process: server, headers: {} };
}
