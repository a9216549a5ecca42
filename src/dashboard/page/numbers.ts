const COUNT = new Intl.NumberFormat("en");
const TENTHS = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const CLOCK = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** 12345 as `12,345`; null as a dash. */
export function count(value: number | null): string {
  return value === null ? "–" : COUNT.format(Math.round(value));
}

/** `87 ms`, `4.2 s`, `2 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${TENTHS.format(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** `512 B`, `1.3 kB`, `2.0 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${TENTHS.format(bytes / 1000)} kB` : `${TENTHS.format(bytes / 1_000_000)} MB`;
}

/** Never 100 % while something is missing. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  if (part === whole) return "100 %";
  return `${TENTHS.format(Math.min(99.9, (100 * part) / whole))} %`;
}

/** `12:03:04`, in the reader's own time. `epochMs`: milliseconds since the epoch. */
export function clock(epochMs: number): string {
  return CLOCK.format(epochMs);
}
