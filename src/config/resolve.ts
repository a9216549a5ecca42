import { createHash } from "node:crypto";
import { crossCheck } from "./checks.ts";
import { type Finding, findings, unknownKey } from "./finding.ts";
import type { Environment } from "./interpolate.ts";
import { type Layers, layer, type Source } from "./layers.ts";
import { type Path, type Problem, pathText } from "./problem.ts";
import { type FileConfig, type Runtime, wholeSchema } from "./schema.ts";
import type { Flags } from "./settings.ts";
import { resolveUpstream, type Upstream } from "./upstream.ts";
import type { ConfigText } from "./yaml.ts";

/** The whole configuration, resolved. Never changed: a reload makes another. */
export interface Config extends Omit<Readonly<FileConfig>, "upstreams"> {
  /** At least one; the first serves every model that no rule matches. */
  readonly upstreams: readonly Upstream[];
  readonly runtime: Runtime;
  /** Differs whenever anything else in here does. */
  readonly revision: string;
}

export interface Settings {
  readonly flags: Flags;
  readonly env: Environment;
}

export interface Loaded {
  readonly config: Config;
  /** Where the value at a path came from. */
  sourceOf(path: Path): Source;
}

/** No file was named. */
export const NO_FILE: ConfigText = { tree: {}, lineOf: () => null };

/** Flags over environment over file over defaults. Pure: a configuration without fault, or all faults at once. */
export function resolveConfig(
  text: ConfigText,
  settings: Settings,
): Loaded | { readonly problems: readonly Problem[] } {
  // Known to flags and environment only, and so unknown in a file.
  const { runtime, ...file } = text.tree;
  const layers = layer(file, settings.flags, settings.env);
  const parsed = wholeSchema.safeParse(layers.tree);
  const found = [
    ...(runtime === undefined ? [] : [unknownKey([], "runtime")]),
    ...layers.findings,
    ...notYetSaid(layers, [
      ...(parsed.error?.issues ?? []).flatMap((issue) => findings(issue, layers.tree)),
      ...crossCheck(layers.tree),
    ]),
  ];
  if (found.length > 0 || !parsed.success) {
    const problems = found.map((one) => locate(one, layers, text));
    return { problems: problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
  }
  const upstreams = parsed.data.upstreams.map(resolveUpstream);
  const config = { ...parsed.data, upstreams };
  const revision = createHash("sha256").update(JSON.stringify(config)).digest("hex").slice(0, 16);
  return {
    config: { ...config, revision },
    sourceOf: (path) => layers.origins.get(pathText(path))?.source ?? "default",
  };
}

/** What has a fault already is not complained of twice, and what the environment filled in is not quoted. */
function notYetSaid(layers: Layers, further: readonly Finding[]): Finding[] {
  const said = new Set(layers.findings.map((one) => pathText(one.path)));
  return further.flatMap((one) => {
    const at = pathText(one.path);
    if (said.has(at)) return [];
    said.add(at);
    if (layers.origins.get(at)?.filled !== true) return one;
    // What is near to it may be made of it.
    return { ...one, found: "what the environment gave (not shown)", nearest: null };
  });
}

function locate({ path, expected, found, nearest }: Finding, { origins }: Layers, text: ConfigText): Problem {
  const name = origins.get(pathText(path))?.name ?? null;
  if (name !== null) return { at: name, line: null, expected, found, nearest };
  return { at: pathText(path), line: nearestLine(path, text), expected, found, nearest };
}

/** A key that is missing is told at the line of what it is missing from. */
function nearestLine(path: Path, text: ConfigText): number | null {
  for (let length = path.length; length > 0; length--) {
    const line = text.lineOf(path.slice(0, length));
    if (line !== null) return line;
  }
  return null;
}
