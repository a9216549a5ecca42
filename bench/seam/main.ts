import { type Row, runBench } from "./run.ts";
import type { Score } from "./score.ts";

/** `npm run bench:seam [-- CASES SEED]`: prints the table of SeamBench. */
const CHARACTERS_PER_TOKEN = 4;

const [count = "10000", seed = "1"] = process.argv.slice(2);
if (!/^\d+$/.test(count) || !/^\d+$/.test(seed)) throw new Error("usage: npm run bench:seam -- [CASES [SEED]]");
const rows = runBench(Number(count), Number(seed));

const COLUMNS: readonly (readonly [string, (score: Score) => string])[] = [
  ["cases", (score) => String(score.cases)],
  ["exact", (score) => percent(score.exact, score.cases)],
  ["honest cut", (score) => percent(score.honest, score.cases)],
  ["missed", (score) => String(score.missed)],
  ["wrong join", (score) => percent(score.wrong, score.cases)],
  ["lost", (score) => String(score.lost)],
  ["doubled", (score) => String(score.doubled)],
  ["false removals", (score) => String(score.falseRemovals)],
  ["stream != plain", (score) => String(score.unequal)],
  ["held", (score) => mean(score.held, score.seams)],
  ["passes", (score) => mean(score.passes, score.seams)],
  ["extra tokens", (score) => mean(score.wasted / CHARACTERS_PER_TOKEN, score.cases)],
];

const WAYS = ["prefill", "raw", "prefill, unproven", "prefill, ignored", "nudge", "nudge, holdBack: word"];

print(
  "By strategy, all behaviours of servers",
  WAYS.flatMap((way) => rows.filter((row) => row.group === way && row.name === "all")),
  ({ group }) => group,
);
for (const way of ["prefill, ignored", "nudge"])
  print(
    `${way}, by behaviour of the server`,
    rows.filter((row) => row.group === way && row.name !== "all"),
    ({ name }) => name,
  );
for (const way of ["prefill", "nudge"])
  print(
    `${way}, where the server writes the reply and nothing else: ours, and the joins that others ship`,
    rows.filter((row) => row.name === way),
    ({ group }) => group,
  );
process.stdout.write(`held: characters of a pass that had come when it was released, streamed
passes: until the client saw text again
missed: left cut, although the server wrote the reply and the text does not repeat itself
`);

function print(title: string, shown: readonly Row[], nameOf: (row: Row) => string): void {
  const table = [
    ["", ...COLUMNS.map(([name]) => name)],
    ...shown.map((row) => [nameOf(row), ...COLUMNS.map(([, cell]) => cell(row.score))]),
  ];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  const lines = table.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
  );
  process.stdout.write(`${title}\n${lines.join("\n")}\n\n`);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(part === whole || part === 0 ? 0 : 2)} %`;
}

function mean(sum: number, count: number): string {
  return count === 0 ? "-" : (sum / count).toFixed(1);
}

/** What may never be: a wrong join, a true text that was removed, a stream that differs from its plain reply, a trusted way that is not exact. */
const broken = rows.filter(({ group, name, score }) => {
  if (!WAYS.includes(group)) return false;
  const trusted = (group === "prefill" || group === "raw") && name === "all";
  return score.wrong > 0 || score.falseRemovals > 0 || score.unequal > 0 || (trusted && score.exact < score.cases);
});
for (const { group, name } of broken) process.stderr.write(`BROKEN: ${group}, ${name}\n`);
if (broken.length > 0 || rows.every(({ score }) => score.cases === 0)) process.exitCode = 1;
