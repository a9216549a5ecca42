/** A key that matters with a value that says something. Inside of strings quotes are escaped, so that text never matches. */
const KEY = String.raw`"(?:finish_reason|done_reason|error|tool_calls|function_call|usage|timings|signature)"[ \t]*:(?![ \t]*(?:null|""|\[\]))`;

/** Values that matter: `"object": "error"`, and the types of sealed reasoning. */
const VALUE = String.raw`"(?:error"[ \t]*[,}]|reasoning\.(?:encrypted|summary)")`;

/** The text begins with anything but `data: {`. */
const START = String.raw`^(?!data: ?\{)`;

/** A line end that is not one of the two behind `}`, with the next `data: {` or the end of the text after them. */
const LINE = String.raw`\n(?!(?<=\}\n)\n(?:data: ?\{|$)|(?<=\}\n\n)(?:data: ?\{|$))|\r`;

/** Half an event, and the next one on its line. */
const HALF = String.raw`data: ?\{"(?<=[^\n]data: ?\{")`;

/** Escaped letters and dots (a key in disguise), U+FFFD, half of a surrogate pair. */
const ESCAPE = String.raw`\\u(?:00(?:[4-7]|2[eE])|[fF]{3}[dD]|[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!(?<!\\)\\u[dD][89abAB]..\\u)[dD][c-fC-F])`;

/** U+FFFD as bytes. */
const REPLACED = String.raw`\xef\xbf\xbd`;

/**
 * Matches, in latin1 text of whole events of the chat and completions wires, anything that is more than plain output.
 * Each branch begins with a fixed byte, which V8 compares four at a time: about 2 ns per byte. Nothing in it can backtrack.
 */
export const ALARM = new RegExp([START, KEY, VALUE, LINE, ESCAPE, HALF, REPLACED].join("|"));
