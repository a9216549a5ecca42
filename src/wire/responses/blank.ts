import type { JsonObject } from "../../core/json.ts";
import type { Block } from "../../core/reply.ts";
import { CHANNELS, type ChannelName } from "./channels.ts";

/** What is needed to make items that no upstream gave. */
export interface Naming {
  /** Makes ids unique among responses. */
  readonly id: string;
  /** Names of tools whose arguments are plain text. */
  readonly freeform: ReadonlySet<string>;
}

const PREFIXES = { message: "msg", reasoning: "rs", function_call: "fc", custom_tool_call: "ctc" } as const;

/** What an item is made of. */
export type Blank = Pick<Block, "kind" | "text" | "id" | "name">;

/** An item of the right type for a block, with nothing in it but a call's arguments. */
export function blankItem(block: Blank, position: number, naming: Naming): JsonObject {
  const id = (type: keyof typeof PREFIXES) => ({ id: `${PREFIXES[type]}_${naming.id}_${position}`, type });
  switch (block.kind) {
    case "text":
      return { ...id("message"), status: "in_progress", role: "assistant", content: [] };
    case "reasoning":
      return { ...id("reasoning"), summary: [], content: [] };
    case "tool": {
      const call = {
        status: "in_progress",
        call_id: block.id === "" ? `call_${naming.id}_${position}` : block.id,
        name: block.name,
      };
      if (naming.freeform.has(block.name)) return { ...id("custom_tool_call"), ...call, input: block.text };
      return { ...id("function_call"), ...call, arguments: block.text };
    }
    default:
      return block.kind satisfies never;
  }
}

export function blankPart(channel: ChannelName): JsonObject {
  const empty = { type: channel, [CHANNELS[channel].field]: "" };
  return channel === "output_text" ? { ...empty, annotations: [] } : empty;
}
