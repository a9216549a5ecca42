import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Case } from "./cases/case.ts";
import { START } from "./contenders/index.ts";
import { GOALS } from "./goals.ts";
import { describeMachine, disturbance } from "./machine.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { budgetInForce, NOT_TOLD, warmUp } from "./preflight.ts";
import { caseTable, goalTable } from "./report.ts";
import { Results } from "./results.ts";
import { Harness, Stage } from "./stage.ts";

/** Contenders side by side: all stay up, rounds rotate, medians are told. What is promised of lastword is judged at the end. */
async function bench(options: Options): Promise<void> {
  console.log(`${describeMachine()}\nIn parentheses: lastword's figure is so many times this one.`);
  const startedAt = performance.now();
  const results = new Results();
  const disturbed = disturbance();
  if (disturbed !== null) results.problems.push(disturbed);
  const harness = await Harness.start(mkdtempSync(join(tmpdir(), "lastword-bench-")));
  const stages: Stage[] = [];
  try {
    for (const contender of options.contenders) {
      await attempt(results, `${contender} takes no part`, async () => {
        const running = await START[contender](harness.upstreamPort, harness.folder);
        const stage = new Stage(harness, contender, running, options.quick);
        stages.push(stage);
        await warmUp(stage);
        if (contender === "lastword") await sayBudget(stage, results);
      });
    }
    for (const one of options.cases) {
      const begun = performance.now();
      await rounds(one, stages, options, results);
      console.log(`${caseTable(one, results)}\n  ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    }
  } finally {
    await Promise.all(stages.map((stage) => stage.running.process?.stop()));
    harness.close();
  }
  console.log(goalTable(results));
  for (const problem of results.problems) console.log(`PROBLEM ${problem}`);
  console.log(`\n${options.rounds} round(s), ${Math.round((performance.now() - startedAt) / 1000)} s`);
  if (options.json !== null) writeFileSync(options.json, jsonOf(options, results));
}

/** Figures without a budget would be flattered: that it is on is shown first. */
async function sayBudget(stage: Stage, results: Results): Promise<void> {
  const budget = await budgetInForce(stage);
  console.log(`lastword: ${budget}`);
  if (budget.includes(NOT_TOLD)) results.problems.push("lastword does not count: its figures are flattered");
}

/** Seconds after which no further round of a case is begun. */
const CASE_SECONDS = { quick: 20, full: 240 };

async function rounds(one: Case, stages: readonly Stage[], options: Options, results: Results): Promise<void> {
  const entrants = stages.filter(({ contender }) => one.only?.includes(contender) ?? contender !== "hono-long");
  const startedAt = performance.now();
  const limit = CASE_SECONDS[options.quick ? "quick" : "full"];
  for (let round = 0; round < (one.rounds ?? options.rounds); round++) {
    if ((performance.now() - startedAt) / 1000 > limit) {
      results.problems.push(`${one.name}: stopped before round ${round + 1}, ${limit} s are over`);
      return;
    }
    for (const index of entrants.keys()) {
      const stage = entrants[(index + round) % entrants.length];
      if (stage === undefined) continue;
      await attempt(results, `${one.name}, ${stage.contender}`, async () => {
        await sleep(Math.max(0, stage.usedAt + (one.idleSeconds ?? 0) * 1000 - performance.now()));
        results.add(one.name, stage.contender, await one.run(stage));
      });
    }
  }
}

/** What fails is told at the end, and the others go on. */
async function attempt(results: Results, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    results.problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function jsonOf(options: Options, results: Results): string {
  const goals = GOALS.map((goal) => ({
    says: goal.says,
    sense: goal.sense,
    limit: goal.limit,
    unit: goal.unit,
    reached: goal.reached(results),
  }));
  const run = { machine: describeMachine(), quick: options.quick, rounds: options.rounds };
  return `${JSON.stringify({ ...run, goals, figures: results, problems: results.problems }, null, 2)}\n`;
}

try {
  await bench(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  process.exitCode = 1;
}
