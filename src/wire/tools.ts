import type { ToolSpec } from "../core/ask.ts";

/** Names of the tools whose arguments are plain text. */
export function freeformNames(tools: readonly ToolSpec[]): ReadonlySet<string> {
  return tools.some((tool) => tool.freeform)
    ? new Set(tools.filter((tool) => tool.freeform).map((tool) => tool.name))
    : NONE;
}

const NONE: ReadonlySet<string> = new Set();
