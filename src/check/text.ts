import { styleText } from "node:util";
import type { Effective } from "../config/effective.ts";
import { shown } from "../events/names.ts";
import { columns, indented, width } from "./columns.ts";
import type { Continuation } from "./continuation.ts";
import type { Finding } from "./finding.ts";
import type {
  CountingReport,
  KeyState,
  ListenReport,
  ModelReport,
  ProbeReport,
  Report,
  UpstreamReport,
} from "./report.ts";
import { SERVER_NAMES } from "./servers.ts";

/** Rows of one table; a gateway may list hundreds of models. */
const MOST_ROWS = 20;

/** Where the report is shown. */
export interface Page {
  readonly colour: boolean;
  /** Characters in a line; null: no terminal, lines are as long as they are. */
  readonly columns: number | null;
}

type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";
type Paint = (style: Style, text: string) => string;

/** The report for people: what there is, then what is wrong with it. Whole lines, with a line end. */
export function reportText(report: Report, { colour, columns: most }: Page): string {
  const paint: Paint = colour ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
  const { config, upstreams, problems } = report;
  const blocks = [
    ...(config.settings === null ? [] : [settings(config.settings, paint)]),
    head(report, paint),
    ...upstreams.map((upstream) => upstreamLines(upstream, paint, most)),
    verdict(problems, paint),
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function settings(values: readonly Effective[], paint: Paint): string[] {
  const rows = values.map(({ at, value, source }) => [at, JSON.stringify(value), paint("dim", source)]);
  return [paint("bold", "Settings in force"), ...indented(columns(rows))];
}

function head({ config: { file }, listen, problems }: Report, paint: Paint): string[] {
  const faulty = problems.some(({ code }) => code === "config");
  const config = faulty ? paint("red", "faults; nothing else was looked at") : paint("green", "no faults");
  const rows = [["config", `${file ?? "no file"}, ${config}`]];
  if (listen !== null) rows.push(["listen", listenText(listen, paint)]);
  return columns(rows);
}

function listenText({ url, state }: ListenReport, paint: Paint): string {
  const any = /^(.*):0$/.exec(url)?.[1];
  return any !== undefined && state === "free" ? `${any}, any free port` : `${url} ${LISTEN[state](paint)}`;
}

const LISTEN: Readonly<Record<ListenReport["state"], (paint: Paint) => string>> = {
  free: (paint) => paint("green", "is free"),
  lastword: (paint) => paint("green", "is where a lastword runs already"),
  refused: (paint) => paint("red", "cannot be listened on"),
};

function upstreamLines(upstream: UpstreamReport, paint: Paint, most: number | null): string[] {
  const { name, url, reached, models, not_routed: others, probe } = upstream;
  const hidden = models.length - MOST_ROWS;
  return [
    `${paint("bold", name)}  ${url}`,
    `  ${reached ? reachedText(upstream) : paint("red", "not reached")}`,
    ...indented(modelLines(models.slice(0, MOST_ROWS), paint, most === null ? null : most - 2)),
    ...(hidden > 0 ? [`  and ${plural(hidden, "more model")} (--json tells all)`] : []),
    ...(others > 0
      ? [`  ${others} more ${others === 1 ? "is" : "are"} listed, but no rule sends requests for them here`]
      : []),
    ...(probe === null ? [] : [`  ${probeText(probe)}`]),
  ];
}

function reachedText({ ms, dialect, dialect_source: source, key, clock_skew_seconds: skew }: UpstreamReport): string {
  const facts = [
    `${SERVER_NAMES[dialect]} (${DIALECT_SOURCES[source]})`,
    ...(ms === null ? [] : [`answers in ${ms} ms`]),
    KEYS[key],
    ...(skew === null ? [] : [Math.abs(skew) < 2 ? "clock agrees" : `clock ${skew > 0 ? "+" : ""}${skew} s`]),
  ];
  return facts.join(", ");
}

const DIALECT_SOURCES: Readonly<Record<UpstreamReport["dialect_source"], string>> = {
  config: "as configured",
  detected: "found out",
  assumed: "nothing tells",
};

const KEYS: Readonly<Record<KeyState, string>> = {
  none: "no key needed so far",
  missing: "key missing",
  accepted: "key accepted",
  not_needed: "key not needed",
  refused: "key refused",
  unknown: "key not tried",
};

const HEADINGS = ["model", "window", "output", "cut replies", "counted by", "reasons"];

/** A line per model, or one below the other where the terminal is too narrow for that. */
function modelLines(models: readonly ModelReport[], paint: Paint, most: number | null): string[] {
  if (models.length === 0) return [];
  const rows = models.map(modelRow);
  const table = columns([HEADINGS.map((text) => paint("dim", text)), ...rows]);
  if (most === null || Math.max(...table.map(width)) <= most) return table;
  return rows.flatMap(([name = "", ...cells]) => [
    name,
    ...indented(columns(cells.map((cell, i) => [paint("dim", HEADINGS[i + 1] ?? ""), cell]))),
  ]);
}

function modelRow(model: ModelReport): string[] {
  const { name, sent_as: sent, max_output: output, reasoning } = model;
  return [
    shown(name) + (sent === name ? "" : ` (sent as ${shown(sent)})`),
    windowText(model),
    output === null ? "no limit known" : `at most ${output}`,
    continuationText(model.continuation),
    countingText(model.counting),
    reasoning === null ? "not told" : reasoning ? "yes" : "no",
  ];
}

function windowText({ window, window_source: source, loaded, trained }: ModelReport): string {
  if (window !== null) return `${window} (${source})`;
  if (!loaded) return trained === null ? "not loaded" : `not loaded, at most ${trained}`;
  return trained === null ? "unknown" : `unknown, at most ${trained}`;
}

function continuationText({ ways, known_by: knownBy }: Continuation): string {
  const [first, ...rest] = ways;
  if (first === undefined) return `left as they are (${KNOWN_BY[knownBy]})`;
  return `${[first, ...rest.map((way) => `else ${way}`)].join(", ")} (${KNOWN_BY[knownBy]})`;
}

const KNOWN_BY: Readonly<Record<Continuation["known_by"], string>> = {
  config: "as configured",
  documented: "documented",
  learned: "the probe shows it",
  template: "its template shows it",
  unknown: "found out at the first cut",
};

function countingText({ family, encoding, bound_percent: bound, server_counts: asks }: CountingReport): string {
  const own = family === "unknown" ? encoding : `${encoding} for ${family}`;
  const within = bound === 0 ? "exact" : bound < 100 ? `within ${bound} %` : "a guess until replies have taught it";
  return `${own}, ${within}${asks ? ", by the server itself where it matters" : ""}`;
}

function probeText(probe: ProbeReport): string {
  if (probe.status === null || probe.status >= 400) {
    const refused = probe.trailing_message === "refused" ? ", and takes no trailing assistant message" : "";
    return `probe of ${shown(probe.model)}: ${probe.status === null ? "no answer" : `status ${probe.status}`}${refused}`;
  }
  const cut = probe.names_cuts ? "names its cut" : `ends a cut reply with ${shown(probe.finish_reason)}`;
  const usage = probe.reports_usage ? `reports usage (${probe.completion_tokens} tokens)` : "reports no usage";
  return `probe of ${shown(probe.model)}: ${cut}, ${usage}, ${TRAILING[probe.trailing_message]}`;
}

const TRAILING: Readonly<Record<ProbeReport["trailing_message"], string>> = {
  resumed: "goes on with a trailing assistant message",
  restarted: "begins anew after a trailing assistant message",
  refused: "takes no trailing assistant message",
  untold: "and whether it goes on with a trailing assistant message could not be told",
  not_tried: "and is known not to go on with a trailing assistant message",
};

function verdict(problems: readonly Finding[], paint: Paint): string[] {
  if (problems.length === 0) return [paint("green", "No problems.")];
  const errors = problems.filter(({ level }) => level === "error").length;
  const warnings = problems.length - errors;
  const counts = [
    ...(errors > 0 ? [plural(errors, "problem")] : []),
    ...(warnings > 0 ? [plural(warnings, "warning")] : []),
  ];
  return [paint("bold", `${counts.join(", ")}:`), ...problems.flatMap((problem) => problemLines(problem, paint))];
}

function problemLines({ level, about, says, fix }: Finding, paint: Paint): string[] {
  const mark = level === "error" ? paint("red", "problem") : paint("yellow", "warning");
  return ["", `${mark}  ${shown(about)}: ${says}`, `    fix  ${paint("cyan", fix)}`];
}

function plural(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? "" : "s"}`;
}
