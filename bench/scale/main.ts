import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { APPEND, CLAIM } from "../../src/state/scripts.ts";
import { freePort, printed, type Spawned, spawnPinned } from "../child.ts";
import { describeMachine } from "../machine.ts";
import { type Costs, needsOf } from "./model.ts";
import { startUpstream, TOKENS_PER_SECOND } from "./upstream.ts";

/**
 * What shared state costs, measured with a real Redis on this machine, and what that comes to for 10, 1,000 and 100,000 streams.
 * Takes a minute; everything is ended again.
 */
const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const REQUESTS = 2_000;
const BATCH = 100;
/** Of each kind, before anything is measured: code that has not run often is not what is asked for. */
const WARM_UP = 1_500;
const STREAMS = 300;
const FLOW_SECONDS = 8;
/** Of a reply, for the table: at 20 tokens a second, 600 tokens. */
const REPLY_SECONDS = 30;
const KEPT_SECONDS = 600;
const CAPACITY_SECONDS = 2;
/** Clock ticks per second in `/proc`, on every Linux. */
const TICKS = 100;
const PAGE_BYTES = 4096;

const folder = mkdtempSync(join(tmpdir(), "lastword-scale-"));
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const redisPort = await freePort();
const server = spawnPinned("harness", [
  "redis-server",
  ...["--port", String(redisPort), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
]);
const redis = new Redis(redisPort, "127.0.0.1", { retryStrategy: () => 50 });
redis.on("error", () => undefined);
await redis.ping();
const upstream = await startUpstream();
const url = `redis://127.0.0.1:${redisPort}`;
const alone = await startProxy({});
const shared = await startProxy({ state: { redis: url, replays: true, replayKey: randomUUID() } });
const limited = await startProxy({ state: { redis: url }, limits: { maxInflight: 1000 } });
try {
  console.log(describeMachine());
  const quick = await costOfRequests();
  const flow = await costOfStreams();
  const capacity = await capacityOfRedis();
  tell({ ...flow, perRequest: quick, capacity });
} finally {
  agent.destroy();
  upstream.close();
  await Promise.all([alone, shared, limited].map(({ process }) => process.stop()));
  redis.disconnect();
  await server.stop();
  rmSync(folder, { recursive: true });
}

interface Proxy {
  readonly url: string;
  readonly process: Spawned;
}

async function startProxy(settings: object): Promise<Proxy> {
  const file = join(folder, `${randomUUID()}.yaml`);
  const upstreams = [{ name: "up", url: upstream.url, dialect: "vllm" }];
  writeFileSync(file, JSON.stringify({ listen: { port: 0 }, upstreams, ...settings }));
  const command = [process.execPath, MAIN, "serve", "--config", file, "--log-level", "warn"];
  const child = spawnPinned("contender", command);
  const [, at = ""] = await printed(child, /listening on (\S+)/);
  return { url: at, process: child };
}

/** Sends one request with a key. @returns milliseconds to the last byte, or what ends the stream */
function send(proxy: Proxy, model: "quick" | "flow"): Promise<{ readonly ms: number; readonly leave: () => void }> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      `${proxy.url}/v1/chat/completions`,
      {
        method: "POST",
        agent,
        headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
      },
      (response) => {
        const leave = () => void response.destroy();
        const end = () => resolve({ ms: performance.now() - startedAt, leave });
        response.on("error", () => undefined);
        if (model === "quick") response.on("end", end);
        else response.once("data", end);
        response.resume();
      },
    );
    sent.on("error", reject);
    sent.end(JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Say something." }] }));
  });
}

/** @returns scripts that a request with a key costs */
async function costOfRequests(): Promise<number> {
  const kinds = [
    { name: "alone", proxy: alone, times: [] as number[], cpu: 0, scripts: 0 },
    { name: "with shared replays", proxy: shared, times: [] as number[], cpu: 0, scripts: 0 },
    { name: "with shared limits", proxy: limited, times: [] as number[], cpu: 0, scripts: 0 },
  ];
  for (let i = 0; i < WARM_UP; i++) for (const { proxy } of kinds) await send(proxy, "quick");
  // In turn, so that whatever else the machine does is the same for all.
  for (let round = 0; round < REQUESTS / BATCH; round++) {
    for (const kind of kinds) {
      const before = { ...(await counters()), cpu: cpuSeconds(kind.proxy) };
      for (let i = 0; i < BATCH; i++) kind.times.push((await send(kind.proxy, "quick")).ms);
      await sleep(100);
      kind.cpu += cpuSeconds(kind.proxy) - before.cpu;
      kind.scripts += (await counters()).scripts - before.scripts;
    }
  }
  const [base] = kinds;
  console.log(`\nOne PING to Redis from here: median ${quantile(await pings(), 0.5).toFixed(3)} ms`);
  console.log(`A request with an Idempotency-Key, ${REQUESTS} of each in turn, to the last byte:`);
  for (const { name, times, cpu, scripts } of kinds) {
    const [quick, middle] = [quantile(times, 0.1), quantile(times, 0.5)];
    const more = `+${(middle - quantile(base?.times ?? [], 0.5)).toFixed(3)} ms, at the 10th percentile +${(quick - quantile(base?.times ?? [], 0.1)).toFixed(3)} ms`;
    const spent = `CPU ${((cpu / REQUESTS) * 1000).toFixed(2)} ms, ${(scripts / REQUESTS).toFixed(1)} scripts`;
    console.log(`  ${name.padEnd(20)} median ${middle.toFixed(3)} ms (${more}), ${spent}`);
  }
  return (kinds[1]?.scripts ?? 0) / REQUESTS;
}

/** What one way to Redis and back takes on this machine as it is now. */
async function pings(): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const startedAt = performance.now();
    await redis.ping();
    times.push(performance.now() - startedAt);
  }
  return times;
}

async function costOfStreams(): Promise<Omit<Costs, "perRequest" | "capacity">> {
  const rested = residentBytes(shared);
  const emptied = (await counters()).memory;
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => send(shared, "flow")));
  const before = await counters();
  const cpu = cpuSeconds(shared);
  await sleep(FLOW_SECONDS * 1000);
  const after = await counters();
  const perStream = (total: number) => total / STREAMS / FLOW_SECONDS;
  const kept = (after.memory - emptied) / STREAMS;
  const costs = {
    memory: Math.max(0, residentBytes(shared) - rested) / STREAMS,
    scripts: perStream(after.scripts - before.scripts),
    sent: perStream(after.received - before.received),
    kept: (kept / FLOW_SECONDS) * REPLY_SECONDS,
    cpu: perStream(cpuSeconds(shared) - cpu),
  };
  for (const { leave } of streams) leave();
  console.log(`\n${STREAMS} streams with a key at ${TOKENS_PER_SECOND} tokens a second, ${FLOW_SECONDS} s, each:`);
  console.log(`  memory of lastword   ${(costs.memory / 1024).toFixed(0)} KiB (recording included)`);
  console.log(`  CPU of lastword      ${(costs.cpu * 1000).toFixed(2)} ms per second`);
  console.log(
    `  Redis                ${costs.scripts.toFixed(1)} scripts and ${(costs.sent / 1024).toFixed(1)} KiB per second`,
  );
  console.log(`  kept in Redis        ${(costs.kept / 1024).toFixed(0)} KiB for a reply of ${REPLY_SECONDS} s`);
  return costs;
}

/** Appends as replicas send them, as fast as one Redis takes them. */
async function capacityOfRedis(): Promise<number> {
  const entry = randomBytes(600);
  const names = (i: number) => [`bench:${i}`, `bench:${i}:lease`, `bench:${i}:stream`, `bench:${i}:readers`];
  for (let i = 0; i < 100; i++)
    await redis.eval(CLAIM.source, 2, ...names(i).slice(0, 2), "body", "me", `bench:${i}:stream`, 60_000, 60_000);
  await redis.script("LOAD", APPEND.source);
  const before = await counters();
  const until = performance.now() + CAPACITY_SECONDS * 1000;
  let done = 0;
  for (let n = 0; performance.now() < until; n++) {
    const batch = redis.pipeline();
    for (let i = 0; i < 100; i++) batch.evalsha(APPEND.sha, 4, ...names(i), "me", 5000, 60_000, "", 60_000, n, entry);
    const answers = await batch.exec();
    const odd = answers?.find(([error, answer]) => error !== null || answer !== "alone");
    if (odd !== undefined) throw new Error(`Redis did not append: ${odd.join(" ")}`);
    done += 100;
  }
  // By its own account, so that what else runs here does not count.
  const capacity = done / ((await counters()).cpu - before.cpu);
  const rate = Math.round(capacity).toLocaleString("en");
  console.log(`\nOne Redis: ${rate} appends of ${entry.length} bytes per second of CPU`);
  return capacity;
}

function tell(costs: Costs): void {
  console.log(
    `\nEvery request with a key, replies of ${REPLY_SECONDS} s, kept for ${KEPT_SECONDS} s, 1,000 streams per process:`,
  );
  const head = [
    "streams",
    "processes",
    "sockets",
    "to Redis",
    "memory MiB",
    "cores",
    "scripts/s",
    "MiB/s",
    "Redis MiB",
    "Redises",
  ];
  console.log(head.map((name) => name.padStart(11)).join(""));
  for (const streams of [10, 1_000, 100_000]) {
    const load = { streams, seconds: REPLY_SECONDS, keyed: 1, keptFor: KEPT_SECONDS, perProcess: 1_000 };
    const needs = needsOf(load, costs);
    const cells = [
      streams,
      needs.processes,
      needs.sockets,
      needs.redisConnections,
      needs.memoryMb,
      needs.cores,
      needs.scriptsPerSecond,
      needs.redisMbPerSecond,
      needs.redisMemoryMb,
      needs.redisShare,
    ];
    console.log(cells.map((cell) => shortly(cell).padStart(11)).join(""));
  }
}

function shortly(cell: number): string {
  return cell >= 100 ? Math.round(cell).toLocaleString("en") : String(Number(cell.toPrecision(2)));
}

interface Counters {
  readonly scripts: number;
  readonly received: number;
  readonly memory: number;
  readonly cpu: number;
}

async function counters(): Promise<Counters> {
  const info = await redis.info("everything");
  const number = (field: RegExp) => Number(field.exec(info)?.[1] ?? 0);
  return {
    scripts: number(/cmdstat_evalsha:calls=(\d+)/),
    received: number(/total_net_input_bytes:(\d+)/),
    memory: number(/used_memory:(\d+)/),
    cpu: number(/used_cpu_user:([\d.]+)/) + number(/used_cpu_sys:([\d.]+)/),
  };
}

function residentBytes({ process: { pid } }: Proxy): number {
  return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
}

function cpuSeconds({ process: { pid } }: Proxy): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function quantile(values: readonly number[], at: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * at)] ?? Number.NaN;
}
