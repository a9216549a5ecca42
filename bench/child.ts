import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { type Core, pinned } from "./machine.ts";

/** A script that was bundled with this one, by its path in `bench`. */
export function script(name: string): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}

/** A Node process of the harness, which talks by messages and ends when we do. */
export function forkPinned(core: Core, name: string): ChildProcess {
  const [command = "", ...args] = pinned(core, [process.execPath, script(name)]);
  return spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/** Any process; what it writes is kept for complaints. */
export interface Spawned {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it wrote on stderr last. */
  complaints(): string;
  stop(): Promise<void>;
}

export function spawnPinned(core: Core, command: readonly string[], env: NodeJS.ProcessEnv = process.env): Spawned {
  const [file = "", ...args] = pinned(core, command);
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], env });
  // A full pipe would stop the process.
  child.stdout.resume();
  let kept = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    kept = (kept + text).slice(-2000);
  });
  child.on("error", (error) => {
    kept += error.message;
  });
  return {
    child,
    pid: child.pid ?? 0,
    complaints: () => kept.trim(),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const exit = once(child, "exit");
      const impatience = setTimeout(() => child.kill("SIGKILL"), 3000);
      child.kill("SIGTERM");
      await exit;
      clearTimeout(impatience);
    },
  };
}

/** Resolves with the first match in what the process prints. @throws Error if it ends before, or takes too long */
export function printed({ child, complaints }: Spawned, what: RegExp, seconds = 20): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = "";
    const fail = (why: string) => reject(new Error(`${why} ${complaints()}`.trim()));
    const timer = setTimeout(() => fail("did not start in time"), seconds * 1000);
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      const found = what.exec(text);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found);
    });
    child.once("close", () => {
      clearTimeout(timer);
      fail("ended at once");
    });
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
