import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Inspector } from "./inspector.ts";

/** `dist/main.js` in front of the server that misbehaves, and of one that does not (model `calm`), each in a process of its own. */
export interface Stage {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly inspector: Inspector;
  /** Kilobytes of resident memory. */
  resident(): number;
  /** Open sockets, idle ones included. */
  sockets(): number;
  /** Asks the server's process. */
  ask<T>(what: string): Promise<T>;
  /** What lastword wrote on stderr. */
  complaints(): string;
  stop(): Promise<void>;
}

export async function startStage(config: Record<string, unknown> = {}): Promise<Stage> {
  const [server, port] = await startServer();
  const [calm, calmPort] = await startServer();
  const folder = mkdtempSync(join(tmpdir(), "lastword-robust-"));
  const path = join(folder, "config.yaml");
  const upstreams = [
    { name: "up", url: `http://127.0.0.1:${port}/v1`, dialect: "vllm" },
    { name: "calm", url: `http://127.0.0.1:${calmPort}/v1`, dialect: "vllm" },
  ];
  const models = [{ match: "calm", upstream: "calm" }];
  writeFileSync(path, JSON.stringify({ listen: { port: 0 }, upstreams, models, ...config }));
  const main = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
  const proxy = spawn(process.execPath, ["--inspect=127.0.0.1:0", main, "--config", path, "--log-level", "error"]);
  const errors = said(proxy, "stderr");
  const out = said(proxy, "stdout");
  const url = await out.first(/listening on (\S+)/);
  const inspector = await Inspector.connect(await errors.first(/(ws:\S+)/));
  return {
    url,
    inspector,
    resident: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${proxy.pid}/status`, "utf8"))?.[1]),
    sockets: () =>
      readdirSync(`/proc/${proxy.pid}/fd`).filter((fd) => linkOf(`/proc/${proxy.pid}/fd/${fd}`).startsWith("socket:"))
        .length,
    async ask<T>(what: string) {
      const told = once(server, "message");
      server.send(what);
      return (await told)[0] as T;
    },
    complaints: () => errors.all().replace(/^Debugger.*\n|^For help.*\n/gm, ""),
    async stop() {
      inspector.close();
      const ended = once(proxy, "exit");
      proxy.kill("SIGKILL");
      await ended;
      server.disconnect();
      calm.disconnect();
      rmSync(folder, { recursive: true });
    },
  };
}

async function startServer(): Promise<[ChildProcess, number]> {
  const server = fork(fileURLToPath(new URL("./server.js", import.meta.url)));
  const [{ port }] = (await once(server, "message")) as [{ port: number }];
  return [server, port];
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed meanwhile.
    return "";
  }
}

function said(child: ChildProcess, stream: "stdout" | "stderr") {
  let text = "";
  const looking = new Set<() => void>();
  child[stream]?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    for (const look of looking) look();
  });
  return {
    all: () => text,
    first: (what: RegExp) =>
      new Promise<string>((resolve) => {
        const look = () => {
          const found = what.exec(text)?.[1];
          if (found === undefined) return;
          looking.delete(look);
          resolve(found);
        };
        looking.add(look);
        look();
      }),
  };
}
