import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERRORS } from "../../src/core/error.ts";
import { buildBundle } from "../support/bundle.ts";
import { runCommand } from "../support/command.ts";
import { configTable } from "./config-table.ts";

const path = new URL("../../README.md", import.meta.url);
const TABLE = /<!-- config table -->\n[\s\S]*?<!-- end of config table -->/;

describe("the README", () => {
  it("has the table of config keys that the loader knows (UPDATE_README=1 writes it anew)", () => {
    const now = readFileSync(path, "utf8");
    const wanted = now.replace(TABLE, () => `<!-- config table -->\n${configTable()}\n<!-- end of config table -->`);
    if (process.env.UPDATE_README === "1") writeFileSync(path, wanted);
    else expect(now).toBe(wanted);
    expect(now).toMatch(TABLE);
  });

  it("names only error codes that there are", () => {
    const section = /## When something is wrong\n([\s\S]*?)\n## /.exec(readFileSync(path, "utf8"))?.[1] ?? "";
    const named = [...section.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? "").matchAll(/`(\w+)`/g)].map(([, code]) => code ?? ""),
    );
    expect(named.length).toBeGreaterThan(8);
    for (const code of named) expect(Object.keys(ERRORS)).toContain(code);
  });
});

describe("the README's commands", () => {
  let main = "";
  let remove: () => void = () => undefined;
  beforeAll(async () => {
    ({ main, remove } = await buildBundle());
  }, 120_000);
  afterAll(() => remove());

  /** Every `lastword ...` of the shell blocks, as its arguments; what installs or runs the tests is run by the CI script. */
  const commands = [...readFileSync(path, "utf8").matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap(([, block]) => (block ?? "").split("\n"))
    .map((line) => line.replace(/#.*$/, "").trim())
    .flatMap((line) => line.split("&&").map((one) => one.trim()))
    .filter((line) => /^(npx lastword|node dist\/main\.js)/.test(line))
    .map((line) => line.replace(/^(npx lastword|node dist\/main\.js) ?/, ""));

  it("are found", () => expect(commands.length).toBeGreaterThanOrEqual(4));

  it.each([...new Set(commands)])("lastword %s", async (line) => {
    const args = line.split(" ").filter((word) => word !== "");
    const serves = args.length === 0 || args[0]?.startsWith("-") === true || args[0] === "serve";
    // Another port than the usual one, which something may hold here.
    await using command = runCommand(main, serves ? [...args, "--port", "0"] : args, { env: { LASTWORD_PORT: "0" } });
    if (serves) {
      await command.says("lastword listening on ");
      command.kill("SIGTERM");
      expect(await command.ended).toBe(0);
    } else if (args[0] === "check") {
      // Nothing runs here: it must say so, with a fix.
      expect(await command.ended).toBe(1);
      expect(command.out).toMatch(/http:\/\/localhost:1234/);
    } else expect(await command.ended).toBe(0);
  });
});
