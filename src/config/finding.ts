import type * as z from "zod";
import { isObject } from "../core/json.ts";
import { nearest } from "./nearest.ts";
import type { Path } from "./problem.ts";
import { fileSchema } from "./schema.ts";
import { maskUrl, secrecy } from "./secrets.ts";
import { keysAt } from "./shape.ts";

/** A problem before it is known where the value came from. */
export interface Finding {
  readonly path: Path;
  readonly expected: string;
  readonly found: string;
  readonly nearest: string | null;
}

/** What the schema says of a tree, in the words of `Problem`. */
export function findings(issue: z.core.$ZodIssue, tree: unknown): Finding[] {
  const path = issue.path as Path;
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(path, key));
  const value = valueAt(tree, path);
  const values = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const close = typeof value === "string" ? nearest(value, values) : null;
  return [{ path, expected: expectedBy(issue), found: describe(value, path), nearest: close }];
}

/** The nearest among the keys that may stand there, unless the very same key belongs elsewhere. */
export function unknownKey(path: Path, key: string): Finding {
  const sections = Object.keys(fileSchema.shape);
  const home = sections.find((section) => keysAt(fileSchema, [section]).includes(key));
  return {
    path: [...path, key],
    expected: path.length === 0 ? "a section of the config" : "a key that is known here",
    found: `the unknown key ${JSON.stringify(key.slice(0, 80))}`,
    nearest: home === undefined ? nearest(key, keysAt(fileSchema, path)) : `${home}.${key}`,
  };
}

function expectedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return KINDS[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `one of ${issue.values.map(String).join(", ")}`;
    case "too_big":
      return `${measured(issue.origin)} at most ${issue.maximum}`;
    case "too_small":
      return issue.minimum === 1 && issue.origin === "string"
        ? "a text that is not empty"
        : `${measured(issue.origin)} at least ${issue.minimum}`;
    default:
      // Own words, given beside the rule in the schema.
      return issue.message;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "a mapping of keys to values",
};

function measured(origin: string): string {
  if (origin === "string") return "a text with a length of";
  if (origin === "array") return "a list with a length of";
  return "a number of";
}

/** What stands there, without what nobody may read. */
export function describe(value: unknown, path: Path): string {
  if (value === undefined) return "nothing";
  if (value === null) return "an empty value";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "a mapping";
  if (typeof value !== "string") return secrecy(path) === "secret" ? `a ${typeof value} (not shown)` : String(value);
  if (secrecy(path) === "secret") return `a text of ${value.length} characters (not shown)`;
  return quoted(secrecy(path) === "url" ? maskUrl(value) : value);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}

/** A `${NAME}` without a value, or a `${` that is no reference (`name` null). */
export function unsetVariable(path: Path, name: string | null): Finding {
  if (name === null) {
    const expected = "a name and } after ${ (write $${ for the two characters themselves)";
    return { path, expected, found: "a ${ without them", nearest: null };
  }
  const expected = `the environment variable ${name} to be set, or \${${name}:-} for an empty text`;
  return { path, expected, found: `${name} unset`, nearest: null };
}

export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const step of path) {
    if (Array.isArray(value) && typeof step === "number") value = value[step];
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}
