import { COMMAND_NAMES, COMMANDS, type CommandName, type CommandSpec, EXIT } from "./commands.ts";

const SHELLS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** Prints the script for a shell. Returns the exit code. */
export function print(shell: string): number {
  const script = completion(shell);
  if (script === null) return EXIT.usage;
  process.stdout.write(script);
  return EXIT.ok;
}

/** A completion script for `bash`, `zsh` or `fish`; null for another shell. */
export function completion(shell: string): string | null {
  return Object.hasOwn(SHELLS, shell) ? (SHELLS[shell]?.() ?? null) : null;
}

/** What may follow a command: its flags, and its operand's words. */
function wordsOf(name: CommandName): string[] {
  const spec: CommandSpec = COMMANDS[name];
  return [...(spec.operand?.words ?? []), ...spec.options.map(({ flag }) => `--${flag}`), "--help", "--version"];
}

function bash(): string {
  const cases = COMMAND_NAMES.map((name) => `    ${name}) words="${wordsOf(name).join(" ")}" ;;`);
  return `_lastword() {
  local words current="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    *) words="${[...COMMAND_NAMES, ...wordsOf("serve")].join(" ")}" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${[...COMMAND_NAMES, ...wordsOf("serve")].join(" ")}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _lastword lastword
`;
}

/** zsh runs bash completions; its own format would say the same a second time. */
function zsh(): string {
  return `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bash()}`;
}

function fish(): string {
  const known = COMMAND_NAMES.join(" ");
  const commands = COMMAND_NAMES.map(
    (name) =>
      `complete -c lastword -f -n "not __fish_seen_subcommand_from ${known}" -a ${name} -d ${quoted(COMMANDS[name].says)}`,
  );
  const flags = COMMAND_NAMES.flatMap((name) => {
    const spec: CommandSpec = COMMANDS[name];
    const when = `-n "__fish_seen_subcommand_from ${name}"`;
    const words = (spec.operand?.words ?? []).map((word) => `complete -c lastword -f ${when} -a ${word}`);
    return [
      ...words,
      ...spec.options.map(({ flag, value, says }) => {
        const takes = value === null ? "-f" : "-r";
        return `complete -c lastword ${takes} ${when} -l ${flag} -d ${quoted(says)}`;
      }),
    ];
  });
  return `${[...commands, ...flags].join("\n")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
