import type { Problem } from "../config/problem.ts";
import { type Finding, finding } from "./finding.ts";

/** A fault of the configuration as a finding, with what to write in its place. `platform`: as Node names it. */
export function configFinding(problem: Problem, platform: NodeJS.Platform): Finding {
  const { at, line, expected, found } = problem;
  const where = line === null ? at : `${at} (line ${line})`;
  return finding("config", where, `Expected ${expected}, found ${found}.`, fixOf(problem, platform));
}

function fixOf({ at, line, expected, found, nearest }: Problem, platform: NodeJS.Platform): string {
  const unset = /^([A-Za-z_][A-Za-z0-9_]*) unset$/.exec(found)?.[1];
  if (unset !== undefined) return `${platform === "win32" ? "set" : "export"} ${unset}=VALUE`;
  if (nearest !== null) return found.startsWith("the unknown key") ? `${nearest}:` : written(at, nearest);
  if (expected === "a file that can be read") return "--config PATH_OF_THE_FILE";
  if (expected === "a single upstream that it is for") return "--upstream URL";
  if (expected.startsWith("a loopback address")) return written(at, "127.0.0.1");
  // What is wrong within the file as a whole has no name to write anything to.
  return at === "config" ? `mend line ${line ?? 1} of the config file` : written(at, exampleOf(expected));
}

/** A value where the old one came from: flag, environment, or file. */
function written(at: string, value: string): string {
  if (at.startsWith("--")) return `${at} ${value}`;
  if (/^[A-Z][A-Z0-9_]+$/.test(at)) return `${at}=${value}`;
  const key = at.slice(at.lastIndexOf(".") + 1);
  return key.endsWith("]") ? `- ${value}` : `${key}: ${value}`;
}

/** The least or most that is allowed, the first of the words that are, or what kind of value it is to be. */
function exampleOf(expected: string): string {
  const bound = /^a number of at (?:most|least) (-?\d+(?:\.\d+)?)$/.exec(expected)?.[1];
  const word = /^(?:one of )?(\w+)(?: or |, )/.exec(expected)?.[1];
  const [kind = ""] = expected.replace(/^an? /, "").split(",");
  return bound ?? word ?? kind.replaceAll(/[^A-Za-z0-9]+/g, "_").toUpperCase();
}
