import { COMMAND_NAMES, COMMANDS, type CommandName, type CommandSpec, type Option } from "./commands.ts";

/** Characters in a line. */
const WIDTH = 78;

const STANDARD: readonly Option[] = [
  { flag: "help", value: null, env: null, says: "show this (-h)" },
  { flag: "version", value: null, env: null, says: "print the version (-V)" },
];

/** Help for one command, or for all of them; whole lines, with a line end. */
export function help(of: CommandName | null): string {
  return `${(of === null ? overview() : helpOf(of)).join("\n")}\n`;
}

function overview(): string[] {
  return [
    "lastword: a local, OpenAI-compatible proxy that makes cut model replies whole,",
    "or says plainly that they are not.",
    "",
    "Try it without a server:",
    "  lastword demo",
    "",
    "Use it with LM Studio on this machine, then set your client's base URL to",
    "http://127.0.0.1:4747/v1:",
    "  lastword",
    "",
    "Use it with any other server:",
    "  lastword --upstream http://localhost:8080",
    "",
    "If something is odd, ask it what is wrong and how to mend it:",
    "  lastword check --upstream http://localhost:8080",
    "",
    "Commands (lastword COMMAND --help tells more):",
    ...columns(COMMAND_NAMES.map((name) => [synopsis(name), COMMANDS[name].says])),
    "",
    "Flags of serve:",
    ...options([...COMMANDS.serve.options, ...STANDARD]),
    ...EXIT_CODES,
  ];
}

function helpOf(name: CommandName): string[] {
  const spec: CommandSpec = COMMANDS[name];
  const flags = spec.options.length > 0 ? " [FLAGS]" : "";
  return [
    ...wrap(`lastword ${synopsis(name)}${flags}: ${spec.says}`, WIDTH),
    "",
    ...wrap(spec.teaches, WIDTH),
    "",
    "Examples:",
    ...spec.examples.map((example) => `  ${example}`),
    "",
    "Flags:",
    ...options([...spec.options, ...STANDARD]),
    ...EXIT_CODES,
  ];
}

const EXIT_CODES = [
  "",
  ...wrap("Exit codes: 0 all is well, 1 a problem was found, 2 the command line makes no sense.", WIDTH),
];

function synopsis(name: CommandName): string {
  const { operand }: CommandSpec = COMMANDS[name];
  return operand === null ? name : `${name} ${operand.name}`;
}

function options(rows: readonly Option[]): string[] {
  return columns(
    rows.map(({ flag, value, says, env }) => [
      value === null ? `--${flag}` : `--${flag} ${value}`,
      env === null ? says : `${says} [${env}]`,
    ]),
  );
}

/** Two columns; the right one is broken into lines. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.flatMap(([left, right]) =>
    wrap(right, WIDTH - 2 - width).map((line, index) => `  ${(index === 0 ? left : "").padEnd(width)}${line}`),
  );
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}
