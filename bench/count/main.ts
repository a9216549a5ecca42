import { narrowing, record } from "./calibration.ts";
import { type Cost, costs, memoryGrowth } from "./cost.ts";
import { ratios } from "./ratios.ts";

/**
 * What counting costs, how vocabularies differ, and how estimates narrow.
 * With `--record URL` it prints what a running llama-server counts for the generated conversations instead.
 */
const [flag, url] = process.argv.slice(2);
if (flag === "--record" && url !== undefined) {
  console.log(JSON.stringify(await record(url)));
} else {
  await report();
}

async function report(): Promise<void> {
  const { load, rows, hostile } = await costs();
  say(`Thread started and vocabulary read: ${load.toFixed(0)} ms\n`);
  table(
    "400 kB in 40 messages",
    ["unseen ms", "MB/s", "next turn ms", "times cheaper", "seen ms", "loop held ms"],
    rows.map(costRow),
  );
  table(
    "100,000 characters without a split",
    ["unseen ms", "MB/s", "next turn ms", "times cheaper", "seen ms", "loop held ms"],
    hostile.map(costRow),
  );
  say(`Memory after 1,000 different prompts of 400 kB: ${(await memoryGrowth()).toFixed(0)} MB more\n`);
  const kinds = await ratios();
  table(
    "Tokens per token of o200k",
    kinds.columns,
    kinds.rows.map(([name, ...values]) => [name, ...values.map((value) => value.toFixed(2))]),
  );
  const stages = await narrowing();
  table(
    "Unknown model, 1,184-token vocabulary, replies seen before",
    ["requests", "median error", "median bound", "outside the bound"],
    stages.map((stage) => [
      stage.replies,
      String(stage.requests),
      percent(stage.medianError),
      percent(stage.medianBound),
      String(stage.outside),
    ]),
  );
}

function costRow({ text, bytes, unseen, nextTurn, seen, held }: Cost): string[] {
  const ms = [
    unseen.toFixed(1),
    (bytes / 1e3 / unseen).toFixed(1),
    nextTurn.toFixed(2),
    (unseen / nextTurn).toFixed(0),
    seen.toFixed(2),
  ];
  return [text, ...ms, held.toFixed(1)];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): void {
  say(`| ${[title, ...columns].join(" | ")} |`);
  say(`|---|${columns.map(() => "--:|").join("")}`);
  for (const row of rows) say(`| ${row.join(" | ")} |`);
  say("");
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
