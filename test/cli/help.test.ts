import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { parseCommand } from "../../src/cli/args.ts";
import { COMMAND_NAMES, COMMANDS, type CommandSpec } from "../../src/cli/commands.ts";
import { completion } from "../../src/cli/completion.ts";
import { help } from "../../src/cli/help.ts";

test("the overview names every command, every flag of serve, every variable and the exit codes", () => {
  const text = help(null);
  for (const name of COMMAND_NAMES) expect(text).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  for (const { flag, env } of COMMANDS.serve.options) {
    expect(text).toContain(`--${flag}`);
    if (env !== null) expect(text).toContain(`[${env}]`);
  }
  expect(text).toContain("Exit codes: 0 ");
});

test.each([null, ...COMMAND_NAMES])("help of %s fits 80 columns and ends in one line end", (name) => {
  const text = help(name);
  expect(text).toMatch(/[^\n]\n$/);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test.each(COMMAND_NAMES)("help of %s shows its flags, and examples that parse", (name) => {
  const spec: CommandSpec = COMMANDS[name];
  const text = help(name);
  for (const { flag } of spec.options) expect(text).toContain(`--${flag}`);
  for (const example of spec.examples) {
    expect(text).toContain(example);
    const words = /lastword ?([^|)]*)/.exec(example)?.[1]?.trim() ?? "";
    expect(parseCommand(words === "" ? [] : words.split(" ")).run).toBe(name);
  }
});

test("completion scripts hold every command and flag; another shell has none", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = completion(shell) ?? "";
    for (const name of COMMAND_NAMES) expect(script).toContain(name);
    for (const flag of ["upstream", "print-config", "keep", "url"]) expect(script).toContain(flag);
  }
  expect(completion("toString")).toBeNull();
});

test.skipIf(process.platform === "win32")("in bash, the script completes commands, flags and words", () => {
  const complete = (...words: string[]) => {
    const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _lastword; echo "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", `${completion("bash")}\n${set}`], { encoding: "utf8" }).trim();
  };
  expect(complete("lastword", "re")).toBe("report");
  expect(complete("lastword", "check", "--pr")).toBe("--print-config --probe");
  expect(complete("lastword", "completion", "z")).toBe("zsh");
  expect(complete("lastword", "--ups")).toBe("--upstream");
  expect(complete("lastword", "--port", "1", "--ho")).toBe("--host");
});
