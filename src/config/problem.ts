/** One thing that is wrong with the configuration, told so that it can be mended without reading anything else. */
export interface Problem {
  /** Where it stands: `recovery.maxAttempts`, `--port`, `LASTWORD_PORT`, or `config` for the file as a whole. */
  readonly at: string;
  /** Line in the config file, from 1; null where it does not come from the file. */
  readonly line: number | null;
  readonly expected: string;
  /** Never a key, and never a URL's credentials or query. */
  readonly found: string;
  /** The nearest known key, name or value; null where there is nothing to be near to. */
  readonly nearest: string | null;
}

export type Path = readonly (string | number)[];

/** `models[0].window` */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** One line for people. */
export function problemText(problem: Problem): string {
  const line = problem.line === null ? "" : ` (line ${problem.line})`;
  const nearest = problem.nearest === null ? "" : `; nearest known: ${problem.nearest}`;
  return `${problem.at}${line}: expected ${problem.expected}, found ${problem.found}${nearest}`;
}
