import { expect, test } from "vitest";
import { effective } from "../../src/config/effective.ts";
import { loadConfig } from "../../src/config/load.ts";

test("every value in force, its source, and no secret", () => {
  const file = `
listen: { keys: [canary-1, canary-2] }
upstreams: [{ name: a, url: "http://u:canary-3@h/v1?key=canary-4", key: "\${K}" }]
models: [{ match: "x", maxAttempts: 2 }]
state: { redis: "redis://:canary-5@r", replayKey: canary-6 }`;
  const loaded = loadConfig({ flags: { port: "0" }, env: { K: "canary-7", LASTWORD_LOG_LEVEL: "warn" }, file });
  if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
  const shown = new Map(effective(loaded).map(({ at, value, source }) => [at, [value, source]]));
  expect(JSON.stringify([...shown])).not.toContain("canary");
  expect(shown.get("listen.keys")).toEqual([["***", "***"], "file"]);
  expect(shown.get("listen.port")).toEqual([0, "flag"]);
  expect(shown.get("upstreams[0].url")).toEqual(["http://***@h/v1?***", "file"]);
  expect(shown.get("upstreams[0].key")).toEqual(["***", "file"]);
  expect(shown.get("upstreams[0].dialect")).toEqual(["auto", "default"]);
  expect(shown.get("models[0].maxAttempts")).toEqual([2, "file"]);
  expect(shown.get("recovery.retryBackoffSeconds")).toEqual([[2, 4], "default"]);
  expect(shown.get("runtime.logLevel")).toEqual(["warn", "env"]);
  expect(shown.get("state.redis")).toEqual(["redis://***@r", "file"]);
});
