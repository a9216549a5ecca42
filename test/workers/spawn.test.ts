import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { WORKERS } from "../../src/workers/spawn.ts";

test("the build makes a file of every worker", async () => {
  const { scripts } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
  for (const [name, source] of Object.entries(WORKERS))
    expect(scripts.build).toContain(`${name}-worker=src/${source} `);
});
