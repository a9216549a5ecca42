import type { Case } from "./cases/case.ts";
import { CONTENDERS, type ContenderName } from "./contenders/contender.ts";
import { GOALS, type Goal, isReached } from "./goals.ts";
import type { Results } from "./results.ts";

/**
 * One case as a table: medians of the rounds, and in parentheses how many times that figure lastword's is. A row for each contender,
 * or for each metric where there are many.
 */
export function caseTable({ name, says }: Case, results: Results): string {
  const metrics = results.metrics(name);
  const contenders = CONTENDERS.filter((one) => metrics.some((metric) => results.median(name, one, metric) !== null));
  const cells = [
    ["", ...metrics],
    ...contenders.map((one) => [one, ...metrics.map((metric) => cell(results, name, one, metric))]),
  ];
  return `\n${name}: ${says}\n${table(metrics.length > MOST_COLUMNS ? turned(cells) : cells)}`;
}

const MOST_COLUMNS = 6;

function cell(results: Results, name: string, contender: ContenderName, metric: string): string {
  const value = results.median(name, contender, metric);
  const ours = results.median(name, "lastword", metric);
  if (value === null) return "-";
  const alone = contender === "lastword" || ours === null || value === 0;
  return alone ? figure(value) : `${figure(value)} (${figure(ours / value)}x)`;
}

function turned(cells: readonly (readonly string[])[]): string[][] {
  return (cells[0] ?? []).map((_, column) => cells.map((row) => row[column] ?? ""));
}

/** Every goal that was measured: limit, what was reached, and whether that is within it. */
export function goalTable(results: Results): string {
  const rows = GOALS.flatMap((goal) => {
    const value = goal.reached(results);
    return value === null ? [] : [row(goal, value)];
  });
  if (rows.length === 0) return "";
  return `\ngoals of lastword\n${table([["", "goal", "reached", ""], ...rows])}`;
}

function row(goal: Goal, value: number): string[] {
  const sign = goal.sense === "at most" ? "<=" : ">=";
  return [
    goal.says,
    `${sign} ${goal.limit} ${goal.unit}`,
    `${figure(value)} ${goal.unit}`,
    isReached(goal, value) ? "ok" : "MISSED",
  ];
}

/** Three digits that count. */
function figure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? "").length)));
  return rows
    .map((cells) =>
      cells
        .map((text, column) => pad(text, widths[column] ?? 0, column))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join("\n");
}

const pad = (text: string, width: number, column: number) => (column === 0 ? text.padEnd(width) : text.padStart(width));
