import type { Source } from "./layers.ts";
import type { Loaded } from "./load.ts";
import { type Path, pathText } from "./problem.ts";
import { HIDDEN, maskUrl, secrecy } from "./secrets.ts";

/** One value in force. Keys, and a URL's credentials and query, are masked. */
export interface Effective {
  /** `recovery.maxAttempts` */
  readonly at: string;
  readonly value: string | number | boolean | readonly unknown[];
  readonly source: Source;
}

/** Every value in force with where it came from, in the order of the config file. */
export function effective(loaded: Loaded): Effective[] {
  const { listen, upstreams, models, budget, recovery, limits, state, runtime } = loaded.config;
  const shownUpstreams = upstreams.map(({ name, url, dialect, key, basic, query }) => {
    // Masked below; what was in the URL stays visible as being there.
    const whole = basic === "" ? url : url.replace("://", "://user:password@");
    return { name, url: whole + query, dialect, key };
  });
  const shown = { listen, upstreams: shownUpstreams, models, budget, recovery, limits, state, runtime };
  return leaves(shown, [], loaded);
}

function leaves(value: unknown, path: Path, loaded: Loaded): Effective[] {
  if (Array.isArray(value) && value.some((item) => typeof item === "object")) {
    return value.flatMap((item, index) => leaves(item, [...path, index], loaded));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, item]) => leaves(item, [...path, name], loaded));
  }
  if (value === undefined) return [];
  // A list of plain values came as a whole; its origin is that of its first item.
  const source = Array.isArray(value) && value.length > 0 ? loaded.sourceOf([...path, 0]) : loaded.sourceOf(path);
  return [{ at: pathText(path), value: masked(value as Effective["value"], path), source }];
}

function masked(value: Effective["value"], path: Path): Effective["value"] {
  const kind = secrecy(path);
  if (kind === "open" || value === "") return value;
  if (Array.isArray(value)) return value.map(() => HIDDEN);
  return kind === "url" ? maskUrl(String(value)) : HIDDEN;
}
