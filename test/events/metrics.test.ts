import { describe, expect, test } from "vitest";
import { CAUSES, OUTCOMES, RESULTS, STRATEGIES } from "../../src/core/cut.ts";
import type { Event } from "../../src/events/event.ts";
import { createMetrics } from "../../src/events/metrics.ts";
import { modelLabels } from "../../src/events/names.ts";
import { attempt, finished } from "./samples.ts";

type Planned = Extract<Event, { readonly type: "planned" }>;

const planned = (more: Partial<Planned> = {}): Planned => ({
  type: "planned",
  id: "r1",
  model: "m",
  window: 4096,
  windowSource: "loaded",
  promptTokens: 100,
  countMethod: "exact",
  capAsked: null,
  capSent: null,
  capReason: "none",
  overheadSeconds: 0.002,
  ...more,
});

/** The lines of lastword's own series after these events, without histogram buckets. */
async function series(events: readonly Event[], most = 100): Promise<string[]> {
  const metrics = createMetrics({ version: "1.2.3", label: modelLabels(most) });
  for (const event of events) metrics.event(event);
  const text = await metrics.text();
  return text.split("\n").filter((line) => line.startsWith("lastword_") && !line.includes("_bucket{"));
}

describe("what is counted", () => {
  test("a request, its tokens, its prompt and the error of its count", async () => {
    expect(await series([finished({ outcome: "healed" })])).toEqual(
      expect.arrayContaining([
        'lastword_requests_total{wire="chat",model="m",outcome="healed"} 1',
        'lastword_tokens_total{model="m",kind="prompt"} 80',
        'lastword_tokens_total{model="m",kind="completion"} 20',
        'lastword_tokens_total{model="m",kind="billed_prompt"} 160',
        'lastword_tokens_total{model="m",kind="billed_completion"} 25',
        'lastword_prompt_tokens_sum{model="m"} 80',
        'lastword_count_error_ratio_sum{model="m"} 1.25',
      ]),
    );
  });

  test("a ceiling is no estimate", async () => {
    const lines = await series([finished({ countMethod: "ceiling", promptTokens: null })]);
    expect(lines.filter((line) => /ratio|prompt_tokens_/.test(line))).toEqual([]);
  });

  test("attempts by strategy and result, cuts by cause", async () => {
    const all = STRATEGIES.flatMap((strategy) => RESULTS.map((result) => attempt({ strategy, result })));
    const ended = all.map(
      (facts): Event => ({ type: "attempt_ended", id: "r", model: "m", attempt: 1, facts, cause: null }),
    );
    const cut = CAUSES.map(
      (cause): Event => ({ type: "attempt_ended", id: "r", model: "m", attempt: 1, facts: attempt(), cause }),
    );
    const lines = await series([...ended, ...cut]);
    for (const cause of CAUSES) expect(lines).toContain(`lastword_cuts_total{model="m",cause="${cause}"} 1`);
    expect(lines).toContain('lastword_attempts_total{model="m",strategy="nudge",result="discarded"} 1');
    expect(lines.filter((line) => line.startsWith("lastword_attempts_total"))).toHaveLength(
      STRATEGIES.length * RESULTS.length,
    );
  });

  test("a cap that was lowered counts as clamped, one that was raised or kept does not", async () => {
    const lines = await series([
      planned({ capAsked: 4096, capSent: 1200, capReason: "room" }),
      planned({ capAsked: 100, capSent: 4196, capReason: "allowance" }),
      planned({ capAsked: 100, capSent: 100 }),
    ]);
    expect(lines).toContain('lastword_clamped_total{model="m"} 1');
    expect(lines).toContain("lastword_overhead_seconds_count 3");
  });

  test("rejections by our own codes only", async () => {
    const lines = await series([
      finished({ outcome: "rejected", code: "context_length_exceeded" }),
      finished({ outcome: "rejected", code: "whatever an upstream said" }),
      finished({ outcome: "failed", code: "upstream_stalled" }),
    ]);
    expect(lines.filter((line) => line.startsWith("lastword_rejected_total"))).toEqual([
      'lastword_rejected_total{model="m",reason="context_length_exceeded"} 1',
      'lastword_rejected_total{model="m",reason="other"} 1',
    ]);
  });

  test("in flight, build and seams", async () => {
    const received = (id: string): Event => ({
      type: "received",
      id,
      model: "m",
      wire: "chat",
      stream: true,
      upstream: "u",
    });
    const seam: Event = { type: "seam", id: "r", model: "m", seconds: 0.3, overlap: 4, dropped: 0 };
    const lines = await series([
      received("r1"),
      received("r2"),
      finished({ id: "r1" }),
      finished({ id: "never received" }),
      seam,
    ]);
    expect(lines).toContain("lastword_inflight 1");
    expect(lines).toContain("lastword_seam_seconds_sum 0.3");
    expect(lines).toContain(`lastword_build_info{version="1.2.3",node="${process.version}"} 1`);
  });

  test("every request counts once, whatever its outcome", async () => {
    const lines = await series(OUTCOMES.map((outcome) => finished({ outcome })));
    expect(lines.filter((line) => line.startsWith("lastword_requests_total"))).toEqual(
      OUTCOMES.map((outcome) => `lastword_requests_total{wire="chat",model="m",outcome="${outcome}"} 1`),
    );
  });
});

test("Node's own metrics are there too", async () => {
  const metrics = createMetrics({ version: "1", label: modelLabels(1) });
  expect(await metrics.text()).toMatch(/^process_cpu_seconds_total /m);
  expect(metrics.contentType).toMatch(/^text\/plain/);
});

test("B89: two thousand names that never repeat make no more series than the bound", async () => {
  const names = Array.from({ length: 2000 }, (_, i) => `typo-${i}"\n\\${"x".repeat(i % 5 === 0 ? 10_000 : 0)}`);
  const lines = await series(
    names.map((model) => finished({ model })),
    10,
  );
  const requests = lines.filter((line) => line.startsWith("lastword_requests_total"));
  expect(requests).toHaveLength(11);
  expect(requests).toContain('lastword_requests_total{wire="chat",model="other",outcome="complete"} 1990');
  for (const line of requests)
    expect(line).toMatch(
      /^lastword_requests_total\{wire="chat",model="(?:[^"\\\n]|\\["\\n]){1,256}",outcome="complete"\} \d+$/,
    );
});
