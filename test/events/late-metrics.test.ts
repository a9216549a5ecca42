import { expect, test } from "vitest";
import { lateMetrics } from "../../src/events/late-metrics.ts";
import { createMetrics } from "../../src/events/metrics.ts";
import { modelLabels } from "../../src/events/names.ts";
import { finished } from "./samples.ts";

test("made with the first event, with all that came before it was there", async () => {
  let made = 0;
  const metrics = lateMetrics(async () => {
    made++;
    return createMetrics({ version: "1", label: modelLabels(9) });
  });
  expect(made).toBe(0);
  metrics.event(finished({ outcome: "healed" }));
  metrics.event(finished({ outcome: "healed" }));
  const healed = 'lastword_requests_total{wire="chat",model="m",outcome="healed"}';
  expect(await metrics.text()).toContain(`${healed} 2`);
  metrics.event(finished({ outcome: "healed" }));
  expect(await metrics.text()).toContain(`${healed} 3`);
  expect(made).toBe(1);
});

test("a scrape of an idle proxy has the process's own, in the same format", async () => {
  const label = modelLabels(9);
  const metrics = lateMetrics(async () => createMetrics({ version: "1", label }));
  expect(await metrics.text()).toContain("lastword_build_info");
  expect(metrics.contentType).toBe(createMetrics({ version: "1", label }).contentType);
});
