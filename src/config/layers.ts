import { asArray, isObject, type Json, type JsonObject } from "../core/json.ts";
import { type Finding, unsetVariable, valueAt } from "./finding.ts";
import { type Environment, interpolate } from "./interpolate.ts";
import { type Path, pathText } from "./problem.ts";
import { DEFAULT_UPSTREAM, wholeSchema } from "./schema.ts";
import { type Flags, SETTINGS } from "./settings.ts";
import { fromText } from "./shape.ts";

export type Source = "flag" | "env" | "file" | "default";

/** Where a value came from. */
interface Origin {
  readonly source: Exclude<Source, "default">;
  readonly path: Path;
  /** The flag or variable; null for the file. */
  readonly name: string | null;
  /** Holds text of the environment through `${VAR}`, which problems do not quote. */
  readonly filled: boolean;
}

/** Flags laid over environment laid over file, not yet judged. */
export interface Layers {
  readonly tree: JsonObject;
  /** By path, as `pathText` writes it; what is not there is a default. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly findings: readonly Finding[];
}

export function layer(file: JsonObject, flags: Flags, env: Environment): Layers {
  const given = givenSettings(flags, env);
  // One upstream on the command line stands for all of the file's; what it replaces is not even read.
  const replaced = given.some((one) => one.path[0] === "upstreams" && one.path[2] === "url")
    ? ["upstreams", "models"]
    : [];
  // A section whose keys are all commented out reads as null.
  const sections = Object.entries(file).filter(([name, value]) => value !== null && !replaced.includes(name));
  const filled = interpolate(Object.fromEntries(sections), env);

  const origins = new Map<string, Origin>();
  for (const { path, from } of filled.leaves) {
    origins.set(pathText(path), { source: "file", path, name: null, filled: from.length > 0 });
  }
  let tree: Json = { upstreams: [{ ...DEFAULT_UPSTREAM }], ...filled.tree };
  const findings = filled.unset.map(({ path, name }) => unsetVariable(path, name));
  for (const one of given) {
    const clash = several(one.path, tree);
    if (clash !== null) {
      findings.push(clash);
      origins.set(pathText(one.path), { ...one.origin, path: one.path });
      continue;
    }
    if (one.path[1] === "*") tree = put(tree, ["models", asArray(valueAt(tree, ["models"])).length, "match"], "*");
    for (const path of places(one.path, tree)) {
      origins.set(pathText(path), { ...one.origin, path });
      tree = put(tree, path, one.value);
    }
  }
  for (const { path, source, filled } of origins.values()) {
    const value = valueAt(tree, path);
    if (typeof value === "string" && (filled || source !== "file"))
      tree = put(tree, path, fromText(wholeSchema, path, value));
  }
  return { tree: tree as JsonObject, origins, findings };
}

interface Given {
  readonly path: Path;
  readonly value: string | boolean;
  readonly origin: Omit<Origin, "path">;
}

/** A flag wins over its variable; an empty variable counts as not given. */
function givenSettings(flags: Flags, env: Environment): Given[] {
  return SETTINGS.flatMap(({ flag, env: variable, path }): Given[] => {
    const value = flags[flag];
    if (value !== undefined) return [{ path, value, origin: { source: "flag", name: `--${flag}`, filled: false } }];
    const text = variable === null ? undefined : env[variable];
    if (text === undefined || text === "") return [];
    return [{ path, value: text, origin: { source: "env", name: variable, filled: false } }];
  });
}

/** Key, window and dialect are for one upstream: with several it is not said which. */
function several(path: Path, tree: Json): Finding | null {
  const upstreams = asArray(valueAt(tree, ["upstreams"])).length;
  if (upstreams < 2 || (path[0] !== "upstreams" && path[0] !== "models")) return null;
  return {
    path,
    expected: "a single upstream that it is for",
    found: `${upstreams} upstreams in the file`,
    nearest: null,
  };
}

/** `*` for an index: every rule, with the one that was added for what no rule matches. */
function places(path: Path, tree: Json): Path[] {
  if (path[1] !== "*") return [path];
  return asArray(valueAt(tree, ["models"])).map((_, index) => ["models", index, ...path.slice(2)]);
}

/** A copy with the value at the path. What stands in the way and is no container stays, to be complained of. */
function put(tree: Json | undefined, [step, ...rest]: Path, value: Json): Json {
  if (step === undefined) return value;
  if (typeof step === "number") {
    if (tree !== undefined && !Array.isArray(tree)) return tree;
    const items = [...(tree ?? [])];
    items[step] = put(items[step], rest, value);
    return items;
  }
  if (tree !== undefined && !isObject(tree)) return tree;
  return { ...tree, [step]: put(tree?.[step], rest, value) };
}
