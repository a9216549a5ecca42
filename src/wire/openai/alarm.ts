/**
 * Anything in latin1 text of whole events that is more than plain output, for the chat and completions wires.
 * Every branch begins with a fixed, rare byte, so that a scan costs about a nanosecond per byte and cannot backtrack.
 */
export const ALARM = new RegExp(
  [
    // A key that matters, with a value that says something. Keys inside of strings are escaped and do not match.
    String.raw`"(?:finish_reason|done_reason|error|tool_calls|function_call|usage|timings|signature|data)"[ \t]*:(?![ \t]*(?:null|""|\[[ \t]*\]|\{[ \t]*\}))`,
    String.raw`"(?:error"[ \t]*[,}]|reasoning\.)`,
    // A line that is not one whole `data: {...}` followed by an empty line.
    String.raw`^(?!data: ?\{)`,
    String.raw`(?<![}\n])\n`,
    String.raw`\}\n(?!\n)`,
    String.raw`\n\n(?!data: ?\{|$)`,
    String.raw`\r`,
    // Half an event with the next one on its line.
    String.raw`(?<=[^\n]data: ?)\{"`,
    // Escaped letters (a key in disguise), U+FFFD, half of a surrogate pair.
    String.raw`\\u(?:00[4-7]|[fF]{3}[dD]|[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!(?<!\\)\\u[dD][89abAB]..\\u)[dD][c-fC-F])`,
    // The same in bytes: U+FFFD, and characters that are not whole.
    String.raw`\xef\xbf\xbd|[\xc0-\xdf](?![\x80-\xbf])|[\xe0-\xef](?![\x80-\xbf]{2})|[\xf0-\xff](?![\x80-\xbf]{3})|"[\x80-\xbf]`,
  ].join("|"),
);
