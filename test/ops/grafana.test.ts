import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { createMetrics } from "../../src/events/metrics.ts";
import { modelLabels } from "../../src/events/names.ts";
import { attempt, finished } from "../events/samples.ts";
import { has, ROOT, run } from "./tools.ts";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Board {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { readonly query: string } }[];
  };
  readonly panels: readonly Panel[];
}

const text = await readFile(join(ROOT, "config/grafana.json"), "utf8");
const board = JSON.parse(text) as Board;
const queries = board.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);

/** Labels by metric name, as a scrape shows them once every kind of event was told. */
async function scraped(): Promise<Map<string, Set<string>>> {
  const metrics = createMetrics({ version: "1", label: modelLabels(10) });
  const of = { id: "r1", model: "m" };
  metrics.event({ type: "received", ...of, wire: "chat", stream: true, upstream: "up" });
  const budget = {
    window: 1,
    windowSource: "config",
    promptTokens: 1,
    countMethod: "exact",
    capAsked: 9,
    capSent: 1,
    capReason: "room",
  } as const;
  metrics.event({ type: "planned", ...of, ...budget, overheadSeconds: 0.001 });
  metrics.event({ type: "attempt_ended", ...of, attempt: 1, facts: attempt(), cause: "reply_cap" });
  metrics.event({ type: "seam", ...of, seconds: 1, overlap: 0, dropped: 0 });
  metrics.event(finished(of));
  metrics.event(finished({ ...of, outcome: "rejected", code: "context_length_exceeded" }));
  // What Prometheus itself adds to every series.
  const added = ["job", "instance"];
  const found = new Map<string, Set<string>>();
  for (const [, name = "", labels = ""] of (await metrics.text()).matchAll(/^([a-z_][\w:]*)(?:\{(.*)\})? /gim)) {
    const known = found.get(name) ?? new Set(added);
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}

/** The metrics of a query, each with the labels that its selector names. */
function selectors(expr: string): { readonly metric: string; readonly labels: readonly string[] }[] {
  const found = [...expr.matchAll(/\b((?:lastword|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)];
  return found.map(([, metric = "", inner = ""]) => ({
    metric,
    labels: [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
  }));
}

describe("the Grafana board", () => {
  test("every query names metrics and labels that lastword has", async () => {
    const metrics = await scraped();
    expect(queries.length).toBeGreaterThan(20);
    for (const { title, expr } of queries) {
      const used = selectors(expr);
      expect(used, title).not.toEqual([]);
      for (const { metric, labels } of used) {
        const known = metrics.get(metric);
        expect(known, `${title}: ${metric}`).toBeDefined();
        for (const label of labels) expect([...(known ?? [])], `${title}: ${metric}`).toContain(label);
        for (const [, by = ""] of expr.matchAll(/by \(([^)]*)\)/g))
          for (const label of by.split(/,\s*/)) expect([...(known ?? [])], `${title}: ${metric}`).toContain(label);
      }
    }
  });

  test("what a legend names is what its query keeps", () => {
    for (const { title, expr, legendFormat } of queries) {
      const kept = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, by = ""]) => by.split(/,\s*/));
      for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        if (expr.includes(" by (")) expect(kept, title).toContain(label);
    }
  });

  test("every metric of lastword's own is on the board", async () => {
    const names = new Set(
      [...(await scraped()).keys()]
        .filter((name) => name.startsWith("lastword_"))
        .map((name) => name.replace(/_(bucket|sum|count)$/, "")),
    );
    for (const name of names) expect(text).toContain(name);
  });

  test("variables are defined, panels have ids of their own and do not cover each other", () => {
    const defined = new Set(board.templating.list.map(({ name }) => name));
    for (const [, name = ""] of text.matchAll(/\$\{?([a-z]\w*)/g))
      if (!name.startsWith("__")) expect([...defined]).toContain(name);
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    const cells = board.panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
      expect(x + w, title).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, at) => `${x + (at % w)}|${y + Math.floor(at / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
    for (const panel of board.panels)
      if (panel.type !== "row") expect(panel.datasource?.uid, panel.title).toMatch(/^\$\{datasource\}$/);
  });

  test.skipIf(!has("promtool", "apt-get install prometheus"))("promtool reads every query", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lastword-board-"));
    const rules = queries.map(({ expr }, at) => ({
      record: `query_${at}`,
      expr: expr.replace(/\$__(rate_interval|range)/g, "5m").replace(/\$\w+/g, ".*"),
    }));
    const path = join(folder, "rules.yml");
    await writeFile(path, stringify({ groups: [{ name: "board", rules }] }));
    expect(await run("promtool", ["check", "rules", path])).toMatchObject({ code: 0 });
    await rm(folder, { recursive: true });
  });
});

test("every alert names metrics and labels that lastword has", async () => {
  const metrics = await scraped();
  const rules = await readFile(join(ROOT, "config/alerts.yml"), "utf8");
  const exprs = rules.replace(/^\s*#.*$/gm, "").replace(/annotations:[\s\S]*?(?=- alert|$(?![\s\S]))/g, "");
  const used = selectors(exprs);
  expect(used.length).toBeGreaterThan(10);
  for (const { metric, labels } of used) {
    const known = [...(metrics.get(metric) ?? [])];
    expect(known, metric).not.toEqual([]);
    for (const label of labels) expect(known, metric).toContain(label);
  }
});
