import type { Event } from "./event.ts";
import { shown } from "./names.ts";
import { reportLines, type Tally } from "./tally.ts";

export type Level = "error" | "warn" | "info" | "debug";
/** By name; undefined: left out. */
type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Where log lines go. `write` never throws; after `close` all is written. */
export interface LogSink {
  write(level: Level, message: string, fields: Fields): void;
  close(): void | Promise<void>;
}

export interface Log {
  event(event: Event): void;
  /** For what is not an event: start, stop, faults of lastword itself. Never content or keys. */
  say(level: Level, message: string, fields?: Fields): void;
  /** The tally lines, at shutdown. */
  tally(tallies: readonly Tally[]): void;
  close(): Promise<void>;
}

const LEVELS = ["error", "warn", "info", "debug"] as const;

/** Events hold no content, and so nothing here has to leave any out. */
export function createLog(level: Level | "silent", sink: LogSink): Log {
  const most = level === "silent" ? -1 : LEVELS.indexOf(level);
  const heard = (of: Level) => LEVELS.indexOf(of) <= most;
  const say = (of: Level, message: string, fields: Fields = {}) => {
    if (heard(of)) sink.write(of, message, fields);
  };
  return {
    event(event) {
      // Decided before the line is made: most events are for debugging and cost nothing otherwise.
      const of = levelOf(event);
      if (heard(of)) sink.write(of, event.type, fieldsOf(event));
    },
    say,
    tally: (tallies) => {
      for (const line of reportLines(tallies)) say("info", line);
    },
    close: async () => sink.close(),
  };
}

function levelOf(event: Event): Level {
  switch (event.type) {
    case "received":
    case "planned":
    case "attempt_started":
    case "first_output":
    case "attempt_ended":
    case "seam":
      return "debug";
    case "finished":
      if (event.outcome === "failed") return "error";
      return event.outcome === "complete" || event.outcome === "healed" || event.outcome === "canceled"
        ? "info"
        : "warn";
    case "warned":
      return "warn";
    case "learned":
      return "info";
    case "upstream_state":
      return event.reachable ? "info" : "warn";
    case "config":
      return event.change === "refused" ? "error" : "info";
    default:
      return event satisfies never;
  }
}

/** An event's own fields, flat. */
function fieldsOf(event: Event): Fields {
  if (!("facts" in event)) return bounded({ ...event, type: undefined });
  const { facts, ...rest } = event;
  const { seam, ...flat } = facts;
  const { overlap, dropped } = seam ?? { overlap: null, dropped: null };
  return bounded({ ...rest, type: undefined, ...flat, overlap, dropped });
}

/** Names and reasons may be an upstream's or a client's own words. In place: an object that is made name by name is slow to write. */
function bounded(fields: { -readonly [Name in keyof Fields]: Fields[Name] }): Fields {
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") fields[name] = shown(value);
  }
  return fields;
}
