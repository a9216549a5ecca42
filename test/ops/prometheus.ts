import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "./tools.ts";

interface Alert {
  readonly name: string;
  readonly state: "pending" | "firing";
  readonly labels: Readonly<Record<string, string>>;
}

export interface Prometheus extends AsyncDisposable {
  alerts(): Promise<readonly Alert[]>;
}

/**
 * A real Prometheus with the delivered config and rules, made to hurry: what takes minutes there takes seconds here.
 * `targets`: host and port by name. `key`: sent with every scrape, as the config's comment says how.
 */
export async function startPrometheus(targets: readonly string[], key: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), "lastword-prometheus-"));
  await writeFile(join(folder, "lastword.key"), key);
  await writeFile(join(folder, "alerts.yml"), hurried(await readFile(join(ROOT, "config/alerts.yml"), "utf8")));
  const config = (await readFile(join(ROOT, "config/prometheus.yml"), "utf8"))
    .replace('["127.0.0.1:4747"]', JSON.stringify(targets))
    .replace("# authorization:", "authorization:")
    .replace(
      "#   credentials_file: /etc/prometheus/lastword.key",
      `  credentials_file: ${join(folder, "lastword.key")}`,
    )
    .replaceAll("15s", "250ms");
  await writeFile(join(folder, "prometheus.yml"), config);
  const port = await freePort();
  const root = `http://127.0.0.1:${port}`;
  const process = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const stop = async () => {
    await ended(process);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await ready(root, process);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async alerts() {
      const answer = (await (await fetch(`${root}/api/v1/alerts`)).json()) as {
        data: { alerts: { labels: Record<string, string>; state: Alert["state"] }[] };
      };
      return answer.data.alerts.map(({ labels, state }) => ({ name: labels.alertname ?? "", state, labels }));
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Windows of minutes become seconds; that of an hour stays the longest. */
function hurried(rules: string): string {
  return rules
    .replaceAll("[1h]", "[20s]")
    .replace(/for: \d+m/g, "for: 1s")
    .replace(/\b1[05]m\b(?=\]| >)/g, "4s");
}

async function ready(root: string, process: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (process.exitCode !== null) throw new Error(`prometheus ended with ${process.exitCode}`);
    const answer = await fetch(`${root}/-/ready`).catch(() => null);
    if (answer?.ok === true) return;
    await sleep(50);
  }
  throw new Error("prometheus did not become ready");
}

async function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null) return;
  process.kill("SIGTERM");
  await once(process, "exit");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
