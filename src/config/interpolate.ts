import type { JsonObject } from "../core/json.ts";
import type { Path } from "./problem.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface Interpolated {
  readonly tree: JsonObject;
  /** Every leaf, in order; `from`: names of the variables that it was made from. */
  readonly leaves: readonly { readonly path: Path; readonly from: readonly string[] }[];
  /** References that could not be filled in; `name` null where it is not a reference at all. */
  readonly unset: readonly { readonly path: Path; readonly name: string | null }[];
}

/** `${NAME}`, `${NAME:-fallback}`, `$${` for a literal `${`, or a `${` that is none of these. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g;

/** Fills environment variables into every text value. It works on the parsed tree, so that no value can change its structure. */
export function interpolate(tree: JsonObject, env: Environment): Interpolated {
  const leaves: Interpolated["leaves"][number][] = [];
  const unset: Interpolated["unset"][number][] = [];

  const text = (value: string, path: Path): string => {
    const from: string[] = [];
    const filled = value.replace(REFERENCE, (whole, name?: string, fallback?: string) => {
      if (whole === "$${") return "${";
      if (name === undefined) {
        unset.push({ path, name: null });
        return whole;
      }
      from.push(name);
      const found = env[name];
      // As in a shell, `:-` also stands in for a variable that is set but empty.
      if (fallback !== undefined) return found === undefined || found === "" ? fallback : found;
      if (found === undefined) unset.push({ path, name });
      return found ?? "";
    });
    leaves.push({ path, from });
    return filled;
  };

  const walk = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") return text(value, path);
    if (Array.isArray(value)) {
      if (value.length === 0) leaves.push({ path, from: [] });
      return value.map((item, index) => walk(item, [...path, index]));
    }
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, [...path, name])]));
    }
    leaves.push({ path, from: [] });
    return value;
  };

  return { tree: walk(tree, []) as JsonObject, leaves, unset };
}
