import type { Spawned } from "../child.ts";

export const CONTENDERS = ["direct", "nginx", "hono", "hono-long", "portkey", "lastword"] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/** What stands between load and server. */
export interface Running {
  readonly port: number;
  /** null: nothing stands there. */
  readonly process: Spawned | null;
  /** Headers that this contender needs with every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws Error where it cannot run on this machine; the message says why */
export type Start = (upstreamPort: number, folder: string) => Promise<Running>;
