#!/usr/bin/env node
import { parseCommand } from "./cli/args.ts";
import { EXIT } from "./cli/commands.ts";

/** argv to command. Each command is loaded only when it is run: a fast start is a promise. */
async function main(argv: readonly string[]): Promise<number> {
  const command = parseCommand(argv);
  switch (command.run) {
    case "serve":
      return (await import("./cli/serve.ts")).serve(command, process.env);
    case "demo":
      return (await import("./cli/demo-command.ts")).demoCommand(command, process.env);
    case "check":
      return (await import("./cli/check.ts")).check(command, process.env, process);
    case "report":
      return (await import("./cli/report.ts")).report(command, process.env, process);
    case "count":
      return (await import("./cli/count.ts")).count(command, process);
    case "completion":
      process.stdout.write((await import("./cli/completion.ts")).completion(command.shell) ?? "");
      return EXIT.ok;
    case "help":
      process.stdout.write((await import("./cli/help.ts")).help(command.of));
      return EXIT.ok;
    case "version":
      process.stdout.write(`${(await import("./version.ts")).VERSION}\n`);
      return EXIT.ok;
    case "usage":
      for (const problem of command.problems) process.stderr.write(`lastword: ${problem}\n`);
      process.stderr.write(`Try lastword ${command.of === null ? "" : `${command.of} `}--help\n`);
      return EXIT.usage;
    default:
      return command satisfies never;
  }
}

process.exitCode = await main(process.argv.slice(2));
