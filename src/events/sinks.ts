import type { Level, LogSink } from "./log.ts";

/** JSON lines on stderr, or readable text where it is a terminal. Each loads only what it needs, and not before the first line. */
export function stderrSink(): LogSink {
  if (!process.stderr.isTTY) return lateSink(() => jsonSink(2));
  process.stderr.on("error", ignore);
  return textSink(
    (line) => void process.stderr.write(line),
    () => new Date(),
  );
}

/** A terminal that was closed or a disk that is full costs the log, not the proxy. */
function ignore(): void {}

/** Lines are gathered for so long: a write for each would cost as much as answering a small request. */
const GATHER_MS = 100;
/** Characters that are written without waiting for more. */
const GATHER_LENGTH = 32_768;
/** Bytes that wait for a reader who has stopped reading; further lines are lost. */
const MOST_WAITING = 8 * 1024 * 1024;

/** One JSON object a line: `level`, `time`, the fields, `msg`. Written without blocking the event loop; errors at once, all else soon. */
export async function jsonSink(fd: number): Promise<LogSink> {
  // Its default export: a bundle that imports CommonJS late has no named ones.
  const { default: SonicBoom } = await import("sonic-boom");
  const destination = new SonicBoom({ fd, sync: false, maxLength: MOST_WAITING });
  destination.on("error", ignore);
  let gathered = "";
  let timer: NodeJS.Timeout | null = null;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (gathered !== "") destination.write(gathered);
    gathered = "";
  }

  return {
    write(level, message, fields) {
      gathered += jsonLine(level, message, fields);
      if (level === "error" || gathered.length >= GATHER_LENGTH) flush();
      else timer ??= setTimeout(flush, GATHER_MS);
    },
    close() {
      flush();
      destination.flushSync();
    },
  };
}

function jsonLine(...[level, message, fields]: Parameters<LogSink["write"]>): string {
  const own = JSON.stringify(fields).slice(1, -1);
  const time = new Date().toISOString();
  return `{"level":"${level}","time":"${time}",${own === "" ? "" : `${own},`}"msg":${JSON.stringify(message)}}\n`;
}

/** A sink that is made with its first line. */
export function lateSink(make: () => Promise<LogSink>): LogSink {
  const held: Parameters<LogSink["write"]>[] = [];
  let making: Promise<void> | null = null;
  let sink: LogSink | null = null;

  async function start(): Promise<void> {
    const made = await make();
    for (const line of held.splice(0)) made.write(...line);
    sink = made;
  }

  return {
    write(...line) {
      if (sink !== null) return sink.write(...line);
      held.push(line);
      making ??= start();
    },
    async close() {
      await making;
      await sink?.close();
    },
  };
}

const COLOURS: Readonly<Record<Level, number>> = { error: 31, warn: 33, info: 36, debug: 90 };

/** `12:03:04 info  finished model=qwen outcome=healed`; empty values are left out. */
export function textSink(write: (line: string) => void, now: () => Date): LogSink {
  return {
    write(level, message, fields) {
      const pairs = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== "");
      const rest = pairs.map(([name, value]) => ` \x1b[90m${name}=\x1b[0m${value}`).join("");
      const time = now().toTimeString().slice(0, 8);
      write(`\x1b[90m${time}\x1b[0m \x1b[${COLOURS[level]}m${level.padEnd(5)}\x1b[0m ${message}${rest}\n`);
    },
    close() {},
  };
}
