import type { IncomingHttpHeaders } from "node:http";
import { failure, Refused } from "../core/error.ts";

/** What a client sets for one request by `x-lastword-*` headers. null: as the config says. */
export interface RequestOptions {
  readonly heal: boolean | null;
  readonly caps: "advisory" | "strict" | null;
  readonly deadlineSeconds: number | null;
  readonly attempts: number | null;
  readonly explain: boolean;
}

const MOST_DEADLINE_SECONDS = 7200;
const MOST_ATTEMPTS = 32;

/** @throws Refused `invalid_request`, naming header and allowed values */
export function requestOptions(headers: IncomingHttpHeaders): RequestOptions {
  return {
    heal: heal(headers["x-lastword-heal"]),
    caps: caps(headers["x-lastword-caps"]),
    deadlineSeconds: number(headers["x-lastword-deadline"], "x-lastword-deadline", MOST_DEADLINE_SECONDS, false),
    attempts: number(headers["x-lastword-attempts"], "x-lastword-attempts", MOST_ATTEMPTS, true),
    explain: explain(headers["x-lastword-explain"]),
  };
}

type Header = string | string[] | undefined;

function heal(value: Header): boolean | null {
  if (value === undefined) return null;
  if (value === "on" || value === "off") return value === "on";
  throw bad("x-lastword-heal", "on or off");
}

function caps(value: Header): "advisory" | "strict" | null {
  if (value === undefined) return null;
  if (value === "advisory" || value === "strict") return value;
  throw bad("x-lastword-caps", "advisory or strict");
}

function explain(value: Header): boolean {
  if (value === undefined || value === "0") return false;
  if (value === "1") return true;
  throw bad("x-lastword-explain", "1 or 0");
}

function number(value: Header, name: string, most: number, whole: boolean): number | null {
  if (value === undefined) return null;
  const parsed = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : Number.NaN;
  if (parsed > 0 && parsed <= most && (!whole || Number.isInteger(parsed))) return parsed;
  throw bad(name, `${whole ? "a whole number from 1" : "a number of seconds above 0"} to ${most}`);
}

function bad(header: string, allowed: string): Refused {
  return new Refused(failure("invalid_request", `The header ${header} must be ${allowed}.`, { header }, header));
}
