import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, spawnPinned } from "../child.ts";
import type { Running } from "./contender.ts";

/** nginx as a reverse proxy for streams should be set up: no buffering, upstream connections kept. */
export async function startNginx(upstreamPort: number, folder: string): Promise<Running> {
  installIfAbsent();
  const port = await freePort();
  const home = join(folder, `nginx-${port}`);
  mkdirSync(home, { recursive: true });
  const file = join(home, "nginx.conf");
  writeFileSync(file, configuration(home, port, upstreamPort));
  const process = spawnPinned("contender", ["nginx", "-e", "stderr", "-p", home, "-c", file]);
  await listening(port, process.complaints);
  return { port, process, headers: {} };
}

function installIfAbsent(): void {
  if (spawnSync("nginx", ["-v"]).status === 0) return;
  console.error("bench: nginx is not installed; trying apt-get install nginx-light");
  // Installed for the bench only: it is not to be started as a service.
  const env = { ...process.env, RUNLEVEL: "1", DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]) => spawnSync("apt-get", args, { env, stdio: "ignore", timeout: 120_000 });
  apt("update");
  apt("install", "-y", "--no-install-recommends", "nginx-light");
  if (spawnSync("nginx", ["-v"]).status !== 0) throw new Error("nginx is not there and could not be installed");
}

function configuration(home: string, port: number, upstreamPort: number): string {
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${home}/${kind};`);
  return `
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid ${home}/nginx.pid;
events { worker_connections 8192; }
http {
  access_log off;
  ${temp.join("\n  ")}
  client_max_body_size 64m;
  client_body_buffer_size 1m;
  keepalive_requests 1000000000;
  upstream server {
    server 127.0.0.1:${upstreamPort};
    keepalive 1024;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://server;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

/** Resolves once someone listens there. @throws Error after five seconds */
export async function listening(port: number, complaints: () => string): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (open) return;
    await sleep(20);
  }
  throw new Error(`does not listen: ${complaints()}`);
}
