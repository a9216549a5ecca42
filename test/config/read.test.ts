import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configPath, readConfig } from "../../src/config/read.ts";

test("the flag names the file, else the environment, else there is none", () => {
  expect(configPath("a.yaml", { LASTWORD_CONFIG: "b.yaml" })).toBe("a.yaml");
  expect(configPath(undefined, { LASTWORD_CONFIG: "b.yaml" })).toBe("b.yaml");
  expect(configPath(undefined, { LASTWORD_CONFIG: "" })).toBeNull();
});

test("the same call again sees what has changed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lastword-"));
  try {
    const path = join(folder, "c.yaml");
    writeFileSync(path, "\uFEFFlisten: { port: 1 }\r\n");
    expect(await readConfig(path, {}, {})).toMatchObject({ config: { listen: { port: 1 } } });
    writeFileSync(path, "listen: { port: -1 }");
    expect(await readConfig(path, {}, {})).toMatchObject({ problems: [{ at: "listen.port" }] });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a file that cannot be read is a problem that names it", async () => {
  expect(await readConfig("/nowhere/c.yaml", {}, {})).toMatchObject({
    problems: [{ found: "/nowhere/c.yaml unreadable (ENOENT)" }],
  });
});
