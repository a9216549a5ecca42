import type { Environment } from "../config/interpolate.ts";
import { CAUSES, OUTCOMES } from "../core/cut.ts";
import { asArray, asNumber, asObject, asString, isObject, type JsonObject } from "../core/json.ts";
import { shown } from "../events/names.ts";
import { reportLines, type Tally } from "../events/tally.ts";
import { callableUrl } from "./address.ts";
import { EXIT } from "./commands.ts";

/** `process`, or what a test has in its place. */
interface Terminal {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

interface ReportOptions {
  /** The proxy's base, with or without a path; undefined: on this machine, at the port that the environment names. */
  readonly url: string | undefined;
  /** One of the proxy's own keys. */
  readonly key: string | undefined;
}

const TIMEOUT_MS = 10_000;

/** Prints a running proxy's tally lines. Returns the exit code. */
export async function report({ url, key }: ReportOptions, env: Environment, terminal: Terminal): Promise<number> {
  const base = url ?? callableUrl(env.LASTWORD_HOST || "127.0.0.1", env.LASTWORD_PORT || "4747");
  if (!URL.canParse(base) || !/^https?:/.test(base)) {
    terminal.stderr.write("--url: expected an http:// or https:// URL\n");
    return EXIT.usage;
  }
  const { origin } = new URL(base);
  const answer = await status(origin, key);
  if (typeof answer === "string") {
    terminal.stderr.write(`${answer}\n`);
    return EXIT.problem;
  }
  const lines = reportLines(asArray(answer.tallies).filter(isObject).map(tallyOf));
  if (lines.length === 0) terminal.stderr.write(`The proxy at ${origin} has answered no request yet.\n`);
  for (const line of lines) terminal.stdout.write(`${line}\n`);
  return EXIT.ok;
}

/** The proxy's status, or why there is none and what to do. */
async function status(origin: string, key: string | undefined): Promise<JsonObject | string> {
  let response: Response;
  let json: unknown;
  try {
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    response = await fetch(`${origin}/status`, {
      headers,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    json = await response.json().catch(() => null);
  } catch {
    return `No lastword answers at ${origin}. Start one with: lastword, or name another with --url.`;
  }
  if (response.status === 401) return `The proxy at ${origin} needs one of its keys: lastword report --key KEY`;
  const answer = asObject(json);
  if (response.status !== 200 || answer === undefined || !Array.isArray(answer.tallies)) {
    return `What answers at ${origin} is not lastword (status ${response.status}). Name the proxy with --url.`;
  }
  return answer;
}

/** Read with care: the other side may be of another version. */
function tallyOf(json: JsonObject): Tally {
  const counts = <K extends string>(from: unknown, names: readonly K[]) =>
    Object.fromEntries(names.map((name) => [name, asNumber(asObject(from)?.[name]) ?? 0])) as Record<K, number>;
  return {
    model: shown(asString(json.model)),
    requests: asNumber(json.requests) ?? 0,
    outcomes: counts(json.outcomes, OUTCOMES),
    causes: counts(json.causes, CAUSES),
    cutAsAsked: asNumber(json.cutAsAsked) ?? 0,
  };
}
