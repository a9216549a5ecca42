import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, spawnPinned } from "../child.ts";
import type { Running } from "./contender.ts";
import { listening } from "./nginx.ts";

/**
 * With the newest versions that it allows, every stream is answered with 500 (github.com/Portkey-AI/gateway, issue 1389); these are
 * the newest with which its streams work.
 */
const MANIFEST = {
  private: true,
  dependencies: { "@portkey-ai/gateway": "1.15.2" },
  overrides: { "@hono/node-server": "1.13.8", hono: "4.9.7" },
};

/** Portkey's gateway in front of the server as its OpenAI. Installed once, in a folder of its own. */
export async function startPortkey(upstreamPort: number): Promise<Running> {
  const home = join(tmpdir(), "lastword-bench-portkey");
  const main = join(home, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js");
  if (!existsSync(main)) install(home);
  if (!existsSync(main)) throw new Error("@portkey-ai/gateway could not be installed");

  const port = await freePort();
  const env = { ...process.env, NODE_ENV: "production", TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" };
  const command = [process.execPath, main, `--port=${port}`, "--headless"];
  const server = spawnPinned("contender", command, env);
  await listening(port, server.complaints);
  const headers = {
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1`,
  };
  return { port, process: server, headers };
}

function install(home: string): void {
  console.error(`bench: installing Portkey's gateway in ${home}`);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify(MANIFEST, null, 2));
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"];
  spawnSync("npm", args, { cwd: home, stdio: "ignore", timeout: 180_000, shell: process.platform === "win32" });
}
