/**
 * The ways in which a response says something piece by piece: the type of the content part, the events of its pieces and of its whole,
 * the field that holds the text, and the part's events and index, where a part stands around it.
 */
export const CHANNELS = {
  output_text: {
    delta: "response.output_text.delta",
    done: "response.output_text.done",
    field: "text",
    added: "response.content_part.added",
    ended: "response.content_part.done",
    index: "content_index",
  },
  refusal: {
    delta: "response.refusal.delta",
    done: "response.refusal.done",
    field: "refusal",
    added: "response.content_part.added",
    ended: "response.content_part.done",
    index: "content_index",
  },
  reasoning_text: {
    delta: "response.reasoning_text.delta",
    done: "response.reasoning_text.done",
    field: "text",
    added: "response.content_part.added",
    ended: "response.content_part.done",
    index: "content_index",
  },
  summary_text: {
    delta: "response.reasoning_summary_text.delta",
    done: "response.reasoning_summary_text.done",
    field: "text",
    added: "response.reasoning_summary_part.added",
    ended: "response.reasoning_summary_part.done",
    index: "summary_index",
  },
} as const;

export type ChannelName = keyof typeof CHANNELS;

/** Calls of the client's own tools: the item's type, the events of its arguments, and the field that holds them. */
export const CALLS = {
  function_call: {
    delta: "response.function_call_arguments.delta",
    done: "response.function_call_arguments.done",
    field: "arguments",
  },
  custom_tool_call: {
    delta: "response.custom_tool_call_input.delta",
    done: "response.custom_tool_call_input.done",
    field: "input",
  },
} as const;

export type CallName = keyof typeof CALLS;

const NAMES = ["output_text", "refusal", "reasoning_text", "summary_text"] as const satisfies readonly ChannelName[];

export function channelOf(type: unknown, key: "delta" | "done"): ChannelName | undefined {
  return NAMES.find((name) => CHANNELS[name][key] === type);
}

export function isChannel(type: unknown): type is ChannelName {
  return NAMES.some((name) => name === type);
}

export function isCall(type: unknown): type is CallName {
  return type === "function_call" || type === "custom_tool_call";
}
