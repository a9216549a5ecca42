import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";

/** The kernel's account of processes. Linux only; elsewhere every figure is null. */

/** The contender has one core to itself; server and load share another. A contender of several processes has them all. */
export type Core = "contender" | "harness" | "all";
const CORES: Record<Core, string> = { contender: "0", harness: "1", all: `0-${availableParallelism() - 1}` };

const PINS = canPin();

/** The command, bound to its core where the machine can do that. */
export function pinned(core: Core, command: readonly string[]): string[] {
  return PINS ? ["taskset", "-c", CORES[core], ...command] : [...command];
}

function canPin(): boolean {
  if (availableParallelism() < 2) return false;
  try {
    execFileSync("taskset", ["-c", "0", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export function describeMachine(): string {
  const pins = PINS ? "contender on core 0, server and load on core 1" : "no pinning";
  return `${cpus().length} x ${cpus()[0]?.model.trim() ?? "?"}, ${process.platform}, Node ${process.version}, ${pins}`;
}

/** Work of others over the last minute, in cores, above which figures are noise. */
const QUIET = 0.7;

/** What the machine is doing besides, where that is too much; null where it is quiet. */
export function disturbance(): string | null {
  const load = loadavg()[0] ?? 0;
  return load <= QUIET ? null : `the machine was busy (load average ${load.toFixed(1)}): figures may be noise`;
}

/** CPU time of a process and all below it, in microseconds. */
export function cpuMicros(pid: number): number | null {
  // The finer account knows only the threads that live; the coarser one, in whole ticks, also those that ended.
  return sumOver(pid, (id) => Math.max(nanosOfThreads(id) / 1000, ticksOf(id) * MICROS_PER_TICK));
}

/** Linux has told user space 100 ticks a second on every machine since 2.6. */
const MICROS_PER_TICK = 10_000;

function ticksOf(pid: number): number {
  // Behind the name in parentheses: field 14 is utime, 15 stime.
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /s, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function nanosOfThreads(pid: number): number {
  return orNone(() => readdirSync(`/proc/${pid}/task`)).reduce(
    (sum, task) =>
      sum + orZero(() => Number.parseInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "latin1"), 10)),
    0,
  );
}

/** Resident memory of a process and all below it, in MB. */
export function residentMb(pid: number): number | null {
  return sumOver(pid, (id) => {
    const kb = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${id}/status`, "latin1"))?.[1];
    return Number(kb ?? 0) / 1024;
  });
}

function sumOver(pid: number, read: (pid: number) => number): number | null {
  if (process.platform !== "linux") return null;
  return withChildren(pid).reduce((sum, id) => sum + orZero(() => read(id)), 0);
}

/** The processes that this one started, and theirs. */
export function childrenOf(pid: number): number[] {
  return withChildren(pid).slice(1);
}

function withChildren(pid: number): number[] {
  const tasks = orNone(() => readdirSync(`/proc/${pid}/task`));
  const children = tasks.flatMap((task) =>
    orNone(() => readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").trim().split(" ")),
  );
  return [pid, ...children.filter((child) => child !== "").flatMap((child) => withChildren(Number(child)))];
}

/** A process may end while it is looked at. */
function orZero(read: () => number): number {
  try {
    return read();
  } catch {
    return 0;
  }
}

function orNone(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
