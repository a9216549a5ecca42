import { describe, expect, test } from "vitest";
import { parseCommand } from "../../src/cli/args.ts";

const parse = (line: string) => parseCommand(line === "" ? [] : line.split(" "));

describe("commands", () => {
  test("nothing, or flags alone, is serve", () => {
    expect(parse("")).toEqual({ run: "serve", config: undefined, flags: {} });
    expect(parse("--port 0")).toEqual({ run: "serve", config: undefined, flags: { port: "0" } });
  });

  test("every flag of serve", () => {
    const line =
      "serve --upstream http://h --dialect vllm --key K --window 4096 --host ::1 --port=0 --config c.yaml --log-level debug --allow-open --workers 2 --redis redis://r";
    expect(parse(line)).toEqual({
      run: "serve",
      config: "c.yaml",
      flags: {
        upstream: "http://h",
        dialect: "vllm",
        key: "K",
        window: "4096",
        host: "::1",
        port: "0",
        "log-level": "debug",
        "allow-open": true,
        workers: "2",
        redis: "redis://r",
      },
    });
  });

  test("the others with their own", () => {
    expect(parse("demo --keep --nudge --port 0")).toEqual({
      run: "demo",
      keep: true,
      nudge: true,
      flags: { port: "0" },
    });
    expect(parse("check --json --print-config --probe --config c.yaml")).toEqual({
      run: "check",
      json: true,
      printConfig: true,
      probe: true,
      config: "c.yaml",
      flags: {},
    });
    expect(parse("report --url http://h:1 --key K")).toEqual({ run: "report", url: "http://h:1", key: "K" });
    expect(parse("count -")).toEqual({ run: "count", file: "-" });
    expect(parse("count a.json")).toEqual({ run: "count", file: "a.json" });
    expect(parse("completion fish")).toEqual({ run: "completion", shell: "fish" });
  });

  test("help and version, also per command and beside mistakes", () => {
    expect(parse("--help")).toEqual({ run: "help", of: null });
    expect(parse("-h")).toEqual({ run: "help", of: null });
    expect(parse("help")).toEqual({ run: "help", of: null });
    expect(parse("help check")).toEqual({ run: "help", of: "check" });
    expect(parse("count --help")).toEqual({ run: "help", of: "count" });
    expect(parse("demo --bogus -h")).toEqual({ run: "help", of: "demo" });
    expect(parse("--version")).toEqual({ run: "version" });
    expect(parse("report -V")).toEqual({ run: "version" });
  });

  test("an empty value is one, and a value may begin with a dash", () => {
    expect(parse("--key=")).toMatchObject({ run: "serve", flags: { key: "" } });
    expect(parse("--key=--odd")).toMatchObject({ run: "serve", flags: { key: "--odd" } });
    expect(parse("--window -5")).toMatchObject({ run: "serve", flags: { window: "-5" } });
  });
});

describe("what makes no sense is told all at once, with the nearest known", () => {
  test.each([
    ["srve", ["unknown command srve; nearest known: serve"]],
    ["toString", ["unknown command toString; nearest known: serve"]],
    ["--prot 1", ["unknown flag --prot; nearest known: --port"]],
    ["--upstream", ["--upstream needs a value"]],
    ["--upstream --port 1", ["--upstream needs a value"]],
    ["demo --keep=yes", ["--keep takes no value"]],
    ["demo --kep", ["unknown flag --kep; nearest known: --keep"]],
    ["--port 1 demo", ["unexpected demo (a command comes first)"]],
    ["count", ["FILE|- is missing"]],
    ["count a b", ["unexpected b"]],
    ["completion bsh", ["expected bash|zsh|fish, found bsh; nearest known: bash"]],
    ["check -x", ["unknown flag -x; nearest known: --key"]],
    ["check --no-json", ["unknown flag --no-json; nearest known: --json"]],
  ])("%s", (line, problems) => {
    const command = parse(line);
    expect(command.run).toBe("usage");
    expect(command.run === "usage" && command.problems).toEqual(problems);
  });
});
