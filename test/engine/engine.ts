import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { get } from "../support/client.ts";

/** Launcher of a real llama-server, and the model whose replies are known to the byte. Only the CI script knows where they are. */
const LAUNCHER = process.env.LASTWORD_ENGINE ?? "";
const MODEL = process.env.LASTWORD_ENGINE_MODEL ?? "";
export const present = LAUNCHER !== "" && MODEL !== "";
if (!present)
  process.stderr.write(
    "ENGINE TESTS SKIPPED: LASTWORD_ENGINE and LASTWORD_ENGINE_MODEL do not name a launcher and a model.\n",
  );

/** One reply that the model gives at temperature 0, to the byte. */
export interface Recital {
  readonly name: string;
  readonly messages: JsonObject[];
  readonly tools?: JsonObject[];
  readonly completion_tokens: number;
  readonly content: string;
  readonly reasoning_content?: string;
  readonly tool_call?: { readonly name: string; readonly arguments: JsonObject };
}

export const recitals: readonly Recital[] = present
  ? (JSON.parse(readFileSync(join(dirname(MODEL), "recitals.json"), "utf8")) as Recital[])
  : [];

export interface Engine extends AsyncDisposable {
  readonly url: string;
  readonly dialect: "llamacpp";
  readonly process: ChildProcess;
}

/** Starts a server with this window. Ended, by its own id, when disposed. */
export async function startEngine(window: number, port?: number): Promise<Engine> {
  const bound = port ?? (await freePort());
  const args = [
    "-m",
    MODEL,
    "--host",
    "127.0.0.1",
    "--port",
    String(bound),
    "-c",
    String(window),
    "-np",
    "1",
    "-t",
    "1",
  ];
  const child = spawn(LAUNCHER, args, { stdio: "ignore" });
  const root = `http://127.0.0.1:${bound}`;
  const exited = once(child, "exit");
  for (let tries = 0; ; tries++) {
    const answer = await get(`${root}/health`).catch(() => null);
    if (answer?.status === 200) break;
    if (tries > 300 || child.exitCode !== null) throw new Error("the engine does not start");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url: `${root}/v1`,
    dialect: "llamacpp",
    process: child,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}
