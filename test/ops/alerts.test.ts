import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { postPlain } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { type Handler, stall, startUpstream } from "../support/upstream.ts";
import { recite } from "../support/upstream-recite.ts";
import { startPrometheus } from "./prometheus.ts";
import { has, ROOT, run } from "./tools.ts";

const hasPrometheus = has("prometheus", "apt-get install prometheus") && has("promtool", "apt-get install prometheus");

async function alertNames(): Promise<string[]> {
  const { groups } = parse(await readFile(join(ROOT, "config/alerts.yml"), "utf8"));
  const rules = groups.flatMap((group: { rules: { alert?: string }[] }) => group.rules);
  return rules.flatMap(({ alert }: { alert?: string }) => alert ?? []);
}

test("every alert is tried on the bad day", async () => {
  const days = await readFile(join(ROOT, "test/ops/alerts.test.yml"), "utf8");
  for (const name of await alertNames()) expect(days).toContain(`alertname="${name}"`);
});

describe.skipIf(!hasPrometheus)("promtool", () => {
  for (const args of [
    ["check", "config", "config/prometheus.yml"],
    ["check", "rules", "config/alerts.yml"],
    ["test", "rules", "test/ops/alerts.test.yml"],
  ]) {
    test(args.join(" "), async () => {
      expect(await run("promtool", args)).toMatchObject({ code: 0 });
    });
  }
});

const KEY = "T-one";
const headers = { authorization: `Bearer ${KEY}` };
const chat = (model: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: "user", content: "recite ".repeat(40) }],
});
/** Longer than its cap, and nowhere the same: a reply that repeats itself is not carried on. */
const TEXT = Array.from({ length: 60 }, (_, at) => `Step ${at} takes ${at * at} turns of the handle.`).join(" ");

describe.skipIf(!hasPrometheus)("a real Prometheus that scrapes real proxies", () => {
  test("fires every alert on a bad day, and none for the proxy that has a good one", async () => {
    await using up = await startUpstream({ dialect: "generic", window: 4096, models: ["cut", "odd", "hangs"] });
    await using healthy = await startUpstream({ dialect: "llamacpp", window: 4096 });
    healthy.handle(recite(TEXT));
    const answers: Readonly<Record<string, Handler>> = {
      cut: recite(TEXT),
      // Now more, now less: what no count can learn.
      odd: recite("A short reply.", { promptTokens: ({ n }) => (n % 2 === 0 ? 50 : 150) }),
      hangs: () => [stall()],
    };
    up.handle((call, n) => answers[String(call.body.model)]?.(call, n) ?? [stall()]);
    const listen = { keys: [KEY] };
    const upstreams = [
      { name: "up", url: up.url, dialect: "generic" },
      { name: "gone", url: "http://127.0.0.1:9/v1", dialect: "generic" },
    ];
    const models = [
      { match: "cut", maxAttempts: 1 },
      { match: "gone", upstream: "gone" },
      // Small enough that a prompt must be counted: one that surely fits is not.
      { match: "odd", window: 512 },
    ];
    await using bad = await startProxy(up, { listen, upstreams, models, logLevel: "silent" });
    await using stalled = await startProxy(up, { listen, logLevel: "silent" });
    await using good = await startProxy(healthy, { listen, logLevel: "silent" });
    const place = ({ root }: { readonly root: string }) => new URL(root).host;
    await using prometheus = await startPrometheus([place(bad), place(stalled), place(good), "127.0.0.1:9"], KEY);

    const leave = new AbortController();
    const hanging = fetch(`${stalled.url}/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(chat("hangs")),
      signal: leave.signal,
    }).catch(() => undefined);
    const wanted = (await alertNames()).toSorted();
    let firing: readonly string[] = [];
    const seen = new Set<string>();
    for (let turn = 0; turn < 120 && firing.length < wanted.length; turn++) {
      for (const model of ["cut", "gone", "odd", "odd", "odd"])
        await postPlain(`${bad.url}/chat/completions`, chat(model), headers);
      for (let calls = 0; calls < 2; calls++) await postPlain(`${bad.url}/chat/completions`, chat("cut"));
      expect((await postPlain(`${good.url}/chat/completions`, chat("m"), headers)).status).toBe(200);
      await sleep(150);
      const alerts = await prometheus.alerts();
      firing = [...new Set(alerts.flatMap(({ name, state }) => (state === "firing" ? name : [])))].toSorted();
      for (const { labels } of alerts) seen.add(labels.instance ?? "");
    }
    expect(firing).toEqual(wanted);
    expect([...seen].toSorted()).toEqual(["127.0.0.1:9", place(bad), place(stalled)].toSorted());
    expect(good.events.some((event) => event.type === "finished" && event.outcome === "healed")).toBe(true);
    leave.abort();
    await hanging;
  }, 60_000);
});
