import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { get } from "../support/client.ts";
import { eventually, freePort } from "./redis.ts";

/** A real HAProxy that sends requests to these in turn, and past one that does not answer. */
export async function startHaproxy(ports: readonly number[]): Promise<AsyncDisposable & { readonly url: string }> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "lastword-haproxy-"));
  const file = join(folder, "haproxy.cfg");
  const servers = ports.map((each) => `  server r${each} 127.0.0.1:${each} check inter 500ms fall 2 rise 1`);
  await writeFile(
    file,
    `defaults
  mode http
  timeout connect 1s
  timeout check 10s
  timeout client 60s
  timeout server 60s
  timeout tunnel 60s
  retries 2
  option redispatch 1
frontend in
  bind 127.0.0.1:${port}
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk
  http-check send meth GET uri /healthz ver HTTP/1.1 hdr Host localhost
${servers.join("\n")}
`,
  );
  const haproxy = spawn("haproxy", ["-db", "-q", "-f", file], { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (haproxy.exitCode !== null) throw new Error(`haproxy ended with ${haproxy.exitCode}`);
    const answer = await get(`${url}/healthz`).catch(() => null);
    return answer?.status === 200 ? true : null;
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      haproxy.kill("SIGKILL");
      await once(haproxy, "exit");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
