import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { Redis } from "ioredis";
import { has } from "../ops/tools.ts";

/** Whether the tests that want a Redis can run. */
export const redisHere = has("redis-server", "apt-get install redis-server");

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  /** A client of the test's own. */
  readonly client: Redis;
  /** Kills the server: what it held is lost. */
  kill(): Promise<void>;
  /** Starts an empty one at the same port. */
  restart(): Promise<void>;
  /** Every key and value that it holds, as one text. */
  all(): Promise<string>;
}

/** Starts a Redis of the test's own on a free port, without any file. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  let process = await start(port);
  const client = new Redis(port, "127.0.0.1", { retryStrategy: () => 20 });
  client.on("error", () => undefined);
  const kill = async () => {
    if (process.exitCode !== null || process.signalCode !== null) return;
    process.kill("SIGKILL");
    await once(process, "exit");
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    client,
    kill,
    async restart() {
      process = await start(port);
    },
    async all() {
      const texts: string[] = [];
      for (const key of await client.keys("*")) texts.push(key, await contentOf(client, key));
      return texts.join("\n");
    },
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await kill();
    },
  };
}

async function contentOf(client: Redis, key: string): Promise<string> {
  switch (await client.type(key)) {
    case "string":
      return (await client.get(key)) ?? "";
    case "hash":
      return JSON.stringify(await client.hgetall(key));
    case "zset":
      return (await client.zrange(key, "0", "-1")).join("\n");
    case "stream":
      return (await client.xrangeBuffer(key, "-", "+")).map(([, fields]) => fields.join("\n")).join("\n");
    default:
      return "";
  }
}

async function start(port: number): Promise<ChildProcess> {
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const process = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise<void>((resolve, reject) => {
    let said = "";
    process.stdout.on("data", (piece) => {
      said += String(piece);
      if (said.includes("Ready to accept connections")) resolve();
    });
    process.once("exit", () => reject(new Error(`redis-server does not start: ${said}`)));
  });
  return process;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Looks until it is so. What another process does in its own time cannot be waited for in another way. */
export async function eventually<T>(look: () => Promise<T | null> | T | null): Promise<T> {
  for (let tries = 0; tries < 1_500; tries++) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it never came to be so");
}

/** What an entry is longer by than what it holds: kind, nonce and tag. */
const SEAL_BYTES = 1 + 12 + 16;

/** Until all that a client has been given has come to Redis. */
export function mirrored(redis: RedisServer, client: { seen(): string }): Promise<true> {
  return eventually(async () => {
    let bytes = 0;
    for (const name of await redis.client.keys("lastword:1:replay:*")) {
      if ((await redis.client.type(name)) !== "stream") continue;
      const [, ...entries] = await redis.client.xrangeBuffer(name, "-", "+");
      for (const [, fields] of entries) bytes += (fields[1]?.length ?? 0) - SEAL_BYTES;
    }
    return bytes > 0 && bytes >= Buffer.byteLength(client.seen()) ? true : null;
  });
}
