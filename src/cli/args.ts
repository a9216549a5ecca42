import { parseArgs } from "node:util";
import { nearest } from "../config/nearest.ts";
import { type Flags, SETTINGS } from "../config/settings.ts";
import { COMMAND_NAMES, COMMANDS, type CommandName, type CommandSpec, isCommand } from "./commands.ts";

/** The config file and settings of `serve` and `check`, as they were typed. */
interface Configured {
  readonly config: string | undefined;
  readonly flags: Flags;
}

export type Command =
  | ({ readonly run: "serve" } & Configured)
  | { readonly run: "demo"; readonly keep: boolean; readonly nudge: boolean; readonly flags: Flags }
  | ({
      readonly run: "check";
      readonly json: boolean;
      readonly printConfig: boolean;
      readonly probe: boolean;
    } & Configured)
  | { readonly run: "report"; readonly url: string | undefined; readonly key: string | undefined }
  | { readonly run: "count"; readonly file: string }
  | { readonly run: "completion"; readonly shell: string }
  | { readonly run: "help"; readonly of: CommandName | null }
  | { readonly run: "version" }
  /** The command line makes no sense; one line for each thing that is wrong. */
  | { readonly run: "usage"; readonly of: CommandName | null; readonly problems: readonly string[] };

/** What the command line asks for. `argv` is without node and script. */
export function parseCommand(argv: readonly string[]): Command {
  const [first, ...rest] = argv;
  if (first === undefined || first.startsWith("-")) return parseRest("serve", argv, null);
  if (first === "help") return parseHelp(rest[0]);
  if (isCommand(first)) return parseRest(first, rest, first);
  return {
    run: "usage",
    of: null,
    problems: [`unknown command ${first}; nearest known: ${nearest(first, COMMAND_NAMES)}`],
  };
}

function parseHelp(of: string | undefined): Command {
  if (of === undefined) return { run: "help", of: null };
  return isCommand(of) ? { run: "help", of } : parseCommand([of]);
}

type Values = Readonly<Record<string, string | boolean>>;

/** `named`: the command as typed; null where `serve` is only meant. */
function parseRest(name: CommandName, argv: readonly string[], named: CommandName | null): Command {
  const spec: CommandSpec = COMMANDS[name];
  const { values, operands, problems } = scan(spec, argv);
  if (values.help === true) return { run: "help", of: named };
  if (values.version === true) return { run: "version" };
  // Behind a flag that makes no sense a stray word is most likely its value.
  const wrong = problems.length > 0 ? problems : wrongOperands(spec, operands);
  if (wrong.length > 0) return { run: "usage", of: named, problems: wrong };
  const text = (flag: string) => (typeof values[flag] === "string" ? values[flag] : undefined);
  const configured = { config: text("config"), flags: settingsOf(values) };
  switch (name) {
    case "serve":
      return { run: name, ...configured };
    case "demo":
      return { run: name, keep: values.keep === true, nudge: values.nudge === true, flags: configured.flags };
    case "check":
      return {
        run: name,
        json: values.json === true,
        printConfig: values["print-config"] === true,
        probe: values.probe === true,
        ...configured,
      };
    case "report":
      return { run: name, url: text("url"), key: text("key") };
    case "count":
      return { run: name, file: operands[0] ?? "-" };
    case "completion":
      return { run: name, shell: operands[0] ?? "" };
    default:
      return name satisfies never;
  }
}

/** Reads tokens rather than values, so that everything wrong is told at once and names the nearest flag. */
function scan(spec: CommandSpec, argv: readonly string[]) {
  const takes = new Map(spec.options.map((option) => [option.flag, option.value !== null]));
  takes.set("help", false).set("version", false);
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    options: {
      ...Object.fromEntries([...takes].map(([flag, value]) => [flag, { type: value ? "string" : "boolean" } as const])),
      help: { type: "boolean", short: "h" },
      version: { type: "boolean", short: "V" },
    },
  });
  const values: Record<string, string | boolean> = {};
  const operands: string[] = [];
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const takesValue = takes.get(token.name);
    // A flag where a value belongs is a forgotten value.
    const value = token.inlineValue !== true && token.value?.startsWith("--") === true ? undefined : token.value;
    if (takesValue === undefined) {
      problems.push(`unknown flag ${token.rawName}; nearest known: --${nearest(token.name, takes.keys())}`);
    } else if (takesValue && value === undefined) {
      problems.push(`--${token.name} needs a value`);
    } else if (!takesValue && value !== undefined) {
      problems.push(`--${token.name} takes no value`);
    } else {
      values[token.name] = value ?? true;
    }
  }
  return { values, operands, problems };
}

function wrongOperands({ operand }: CommandSpec, given: readonly string[]): string[] {
  if (operand === null) return given.map((word) => `unexpected ${word} (a command comes first)`);
  const [word, ...more] = given;
  if (word === undefined) return [`${operand.name} is missing`];
  const known = operand.words.length === 0 || operand.words.includes(word);
  return [
    ...(known ? [] : [`expected ${operand.name}, found ${word}; nearest known: ${nearest(word, operand.words)}`]),
    ...more.map((extra) => `unexpected ${extra}`),
  ];
}

function settingsOf(values: Values): Flags {
  const given = SETTINGS.filter(({ flag }) => values[flag] !== undefined);
  return Object.fromEntries(given.map(({ flag }) => [flag, values[flag]]));
}
