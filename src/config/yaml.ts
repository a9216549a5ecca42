import { isMap, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { isObject, type JsonObject } from "../core/json.ts";
import type { Path, Problem } from "./problem.ts";

export interface ConfigText {
  readonly tree: JsonObject;
  /** Line of a value, or of the key where it has one; null where the path is not in the file. */
  lineOf(path: Path): number | null;
}

/** Errors whose message quotes the file, which may hold keys. They are told by their kind instead. */
const QUOTING: Readonly<Record<string, string>> = {
  BAD_ALIAS: "a bad alias (text that starts with * needs quotes)",
  BAD_DIRECTIVE: "a bad directive (text that starts with % needs quotes)",
  BAD_DQ_ESCAPE: "an unknown escape in double quotes (use single quotes)",
  BAD_COLLECTION_TYPE: "a tag that does not fit",
  BAD_SCALAR_START: "text that starts with a reserved character (it needs quotes)",
  RESOURCE_EXHAUSTION: "too deep a nesting",
  TAG_RESOLVE_FAILED: "an unknown tag (text that starts with ! needs quotes)",
  UNEXPECTED_TOKEN: "something that does not belong there (text that holds { or } needs quotes)",
};

/** Reads YAML 1.2. Problems name the line and never quote the file. */
export function readYaml(text: string): ConfigText | { readonly problems: readonly Problem[] } {
  const counter = new LineCounter();
  const document = parseDocument(text, { prettyErrors: false, lineCounter: counter });
  const lineAt = (offset: number) => counter.linePos(offset).line;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    // After the first fault of a line the parser tells its echoes.
    const lines = new Map(faults.reverse().map((fault) => [lineAt(fault.pos[0]), fault]));
    return {
      problems: [...lines].reverse().map(([line, { code, message }]) => broken(line, QUOTING[code] ?? message)),
    };
  }
  let tree: unknown;
  try {
    tree = document.toJS() ?? {};
  } catch {
    // An alias without its anchor, or aliases that multiply beyond reason.
    return { problems: [broken(null, "an alias that cannot be resolved (text that starts with * needs quotes)")] };
  }
  if (!isObject(tree)) {
    return { problems: [{ ...broken(1, "a list or a single value"), expected: "a mapping of keys to values" }] };
  }
  const lineOf = (path: Path) => {
    const offset = startOf(document.contents, path);
    return offset === null ? null : lineAt(offset);
  };
  return { tree, lineOf };
}

function broken(line: number | null, found: string): Problem {
  return { at: "config", line, expected: "valid YAML", found, nearest: null };
}

/** Offset of the key (in a mapping) or the item (in a list) that a path ends in. */
function startOf(root: Node | null, path: Path): number | null {
  let node: unknown = root;
  let offset: number | null = null;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => String(item.key) === String(step));
      offset = (pair?.key as Node | undefined)?.range?.[0] ?? null;
      node = pair?.value;
    } else if (isSeq(node) && typeof step === "number") {
      node = node.items[step];
      offset = (node as Node | undefined)?.range?.[0] ?? null;
    } else {
      return null;
    }
  }
  return offset;
}
