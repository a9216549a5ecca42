import { SETTINGS } from "../config/settings.ts";

/** 0: all is well. 1: a problem was found, or the work could not be done. 2: the command line makes no sense. */
export const EXIT = { ok: 0, problem: 1, usage: 2 } as const;

export interface Option {
  /** Without the dashes. */
  readonly flag: string;
  /** What its value is called in help; null: a switch. */
  readonly value: string | null;
  readonly says: string;
  /** Environment variable that does the same; null for none. */
  readonly env: string | null;
}

export interface CommandSpec {
  /** One line. */
  readonly says: string;
  /** What a newcomer needs to know. */
  readonly teaches: string;
  readonly options: readonly Option[];
  /** The one operand that it needs, with its allowed words where they are few; null: none. */
  readonly operand: { readonly name: string; readonly words: readonly string[] } | null;
  readonly examples: readonly string[];
}

const CONFIG: Option = {
  flag: "config",
  value: "FILE",
  env: "LASTWORD_CONFIG",
  says: "config file in YAML (default none)",
};
const setting = (flag: string): Option[] => SETTINGS.filter((row) => row.flag === flag);
const flag = (name: string, says: string, value: string | null = null): Option => ({
  flag: name,
  value,
  says,
  env: null,
});

export const COMMANDS = {
  serve: {
    says: "start the proxy (what happens without a command)",
    teaches:
      "Stands in front of an OpenAI-compatible server and makes replies whole that the server cuts. Point your client's base URL at http://127.0.0.1:4747/v1. Flags win over environment variables, those over the config file.",
    options: [CONFIG, ...SETTINGS],
    operand: null,
    examples: [
      "lastword",
      "lastword --upstream http://localhost:11434 --dialect ollama",
      "lastword --upstream https://openrouter.ai/api/v1 --key $OPENROUTER_API_KEY",
      "lastword serve --config config/lastword.yaml",
    ],
  },
  demo: {
    says: "show a cut reply beside the healed one, without any server or network",
    teaches:
      "Starts a small built-in server and the proxy in front of it, sends one request that gets cut, and shows what a client sees with and without lastword.",
    options: [
      flag("keep", "leave the server and the proxy running, to try them with your own client"),
      flag("nudge", "let the server be one that cannot resume its own messages"),
      ...setting("port"),
      ...setting("log-level"),
    ],
    operand: null,
    examples: ["lastword demo", "lastword demo --keep"],
  },
  check: {
    says: "look at config and upstreams, and print one fix per problem",
    teaches:
      "Validates the config, tries the port, reaches every upstream, and prints per model its window and where that was learned, its output limit, how cut replies will be continued and how that is known, and how its prompts are counted. Each problem comes with one fix to paste. Exits with 1 if anything is wrong; warnings alone exit with 0.",
    options: [
      flag("json", "print JSON"),
      flag("print-config", "print every setting in force, where it came from, keys masked"),
      flag("probe", "also ask one model per upstream for 16 tokens (nothing else here generates text)"),
      CONFIG,
      ...SETTINGS,
    ],
    operand: null,
    examples: [
      "lastword check",
      "lastword check --upstream http://localhost:8080 --probe",
      "lastword check --config config/lastword.yaml --print-config",
    ],
  },
  report: {
    says: "print how replies ended, one line per model, from a running proxy",
    teaches: "Asks a running proxy for its tallies. Where it was asked nothing yet, standard output stays empty.",
    options: [
      flag("url", "the proxy (default http://127.0.0.1:4747, or LASTWORD_HOST and LASTWORD_PORT)", "URL"),
      flag("key", "one of the proxy's own keys, where it has any", "KEY"),
    ],
    operand: null,
    examples: ["lastword report", "lastword report --url http://box.lan:4747 --key $LASTWORD_KEY"],
  },
  count: {
    says: "count the tokens of a request body, per part",
    teaches:
      "Reads the JSON body of a request on any wire from a file, or from - (standard input), and prints its tokens per part, how they were counted and the error bound.",
    options: [],
    operand: { name: "FILE|-", words: [] },
    examples: ["lastword count request.json", "pbpaste | lastword count -"],
  },
  completion: {
    says: "print a script that makes your shell complete lastword's commands",
    teaches: "Put the line for your shell into its start-up file.",
    options: [],
    operand: { name: "bash|zsh|fish", words: ["bash", "zsh", "fish"] },
    examples: [
      'eval "$(lastword completion bash)"',
      'eval "$(lastword completion zsh)"',
      "lastword completion fish | source",
    ],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}
