import type { KeyState } from "../check/report.ts";
import type { Client } from "../upstream/client.ts";
import type { Dialect, DialectName, Query } from "../upstream/dialect.ts";
import { Server } from "../upstream/server.ts";

type Path = readonly [where: "v1" | "root", path: string];

const LIST: Path = ["v1", "/models"];

/** What is closed without a valid key, where the model list is open to all. */
const CLOSED: Readonly<Partial<Record<DialectName, Path>>> = {
  // openrouter.ai/docs, "Limits": tells what is left of a valid key.
  openrouter: ["v1", "/key"],
  // README of its server: with --api-key, only health and the model list are open.
  llamacpp: ["root", "/props"],
};

/** Whether a key is wanted, and whether the configured one is taken. Generates nothing. */
export async function keyState(server: Server, dialect: Dialect, client: Client): Promise<KeyState> {
  const path = CLOSED[dialect.name] ?? LIST;
  const has = server.authorization !== null;
  if (await refuses(server.query(), path)) return has ? "refused" : "missing";
  if (!has) return "none";
  const without = new Server({ ...server.config, key: "", basic: "" }, client);
  return (await refuses(without.query(), path)) ? "accepted" : "not_needed";
}

async function refuses(query: Query, [where, path]: Path): Promise<boolean> {
  const answer = await query("GET", where, path);
  return answer !== null && (answer.status === 401 || answer.status === 403);
}
