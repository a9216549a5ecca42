import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A running lastword, as its caller sees it. */
export interface Command extends AsyncDisposable {
  /** All that came so far. */
  readonly out: string;
  readonly err: string;
  /** Resolves once stdout (or stderr) holds the text, with the line that it stands in; rejects where the process ends without it. */
  says(text: string, on?: "out" | "err"): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or the signal that ended it, once both outputs are complete. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts `node MAIN ARGS`, with this environment and nothing else of ours. `preload`: a module that runs first. */
export function runCommand(
  main: string,
  args: readonly string[],
  { env = {}, preload, input }: { env?: Record<string, string>; preload?: string; input?: string } = {},
): Command {
  const first = preload === undefined ? [] : ["--import", `data:text/javascript,${encodeURIComponent(preload)}`];
  const path = process.env.PATH === undefined ? {} : { PATH: process.env.PATH };
  const child: ChildProcess = spawn(process.execPath, [...first, main, ...args], {
    env: { ...path, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input ?? "");
  const heard = { out: "", err: "" };
  const watchers = new Set<() => void>();
  let over = false;
  const tell = () => {
    for (const watch of watchers) watch();
  };
  for (const [name, stream] of [["out", child.stdout] as const, ["err", child.stderr] as const]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      heard[name] += text;
      tell();
    });
  }
  const ended = once(child, "close").then(([code, signal]: (number | NodeJS.Signals | null)[]) => {
    over = true;
    tell();
    return code ?? signal ?? -1;
  });
  return {
    get out() {
      return heard.out;
    },
    get err() {
      return heard.err;
    },
    says: (text, on = "out") =>
      new Promise((resolve, reject) => {
        const watch = () => {
          const lines = heard[on].split("\n").slice(0, -1);
          const found = lines.find((line) => line.includes(text));
          if (found === undefined && !over) return;
          watchers.delete(watch);
          if (found !== undefined) resolve(found);
          else reject(new Error(`ended without ${JSON.stringify(text)}:\n${heard.out}\n${heard.err}`));
        };
        watchers.add(watch);
        watch();
      }),
    kill: (signal) => void child.kill(signal),
    ended,
    async [Symbol.asyncDispose]() {
      if (!over) child.kill("SIGKILL");
      await ended;
    },
  };
}
