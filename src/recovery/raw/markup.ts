/**
 * How a template writes an assistant's turn is not known from a table: a turn of words that stand in for what is to be resumed is
 * rendered, and the rendering shows where the template puts them, and what it writes around them.
 */
export const STAND_IN = {
  thought: "lwthought0q7",
  text: "lwtext0q7",
  args: '{"lwkey0q7":"lwvalue0q7"}',
} as const;

const ARGS = /\{\s*"lwkey0q7"\s*:\s*"lwvalue0q7"\s*\}/g;

/** A sign that text would hardly hold by chance, and one token where it is a special one: `<tool_call>`, `[TOOL_CALLS]`, `</think>`. */
const SIGN = /^(?:<[^<>\s]{2,}>|\[[^[\]\s]{2,}\])/;
/** Special tokens are not written out in a completion: markup of several cannot be read. */
const SPECIAL = /<\|/;

/** What a template writes around the pieces of a turn. */
export interface Markup {
  /** The sign between a thought and what follows it, blanks at both ends included; null: not shown, or more than one sign. */
  readonly thoughtEnd: string | null;
  /** A call: the sign with which one begins, and what stands from there to the name and from the name to the arguments. null: not shown. */
  readonly call: {
    readonly sign: string;
    /** null: the arguments are not written as JSON. */
    readonly json: { readonly beforeName: string; readonly beforeArgs: string } | null;
  } | null;
}

/** Where a rendering shows the stand-ins. Offsets in characters; null: it does not show that one. */
export interface Shown {
  readonly thoughtAt: number | null;
  readonly textAt: number | null;
  /** Where the arguments of the last call stand. */
  readonly argsAt: number | null;
  readonly markup: Markup;
}

/** @param name of the call whose arguments are stood in for; null: the turn makes none */
export function readMarkup(rendered: string, name: string | null): Shown {
  const thoughtAt = placeOf(rendered, STAND_IN.thought);
  const textAt = placeOf(rendered, STAND_IN.text);
  const argsAt = [...rendered.matchAll(ARGS)].at(-1)?.index ?? null;
  const thoughtTo = thoughtAt === null ? null : thoughtAt + STAND_IN.thought.length;
  const textTo = textAt === null ? null : textAt + STAND_IN.text.length;
  const thoughtEnd =
    thoughtTo === null || textAt === null || textAt < thoughtTo ? null : rendered.slice(thoughtTo, textAt);
  return {
    thoughtAt,
    textAt,
    argsAt,
    markup: {
      thoughtEnd: thoughtEnd !== null && isSign(thoughtEnd.trim()) ? thoughtEnd : null,
      call: name === null || textTo === null ? null : callMarkup(rendered, name, textTo, argsAt),
    },
  };
}

function callMarkup(rendered: string, name: string, from: number, argsAt: number | null): Markup["call"] {
  const json = argsAt !== null && argsAt > from;
  const nameAt = json ? rendered.lastIndexOf(name, argsAt - 1) : rendered.indexOf(name, from);
  if (nameAt < from) return null;
  const before = rendered.slice(from, nameAt).trimStart();
  const sign = SIGN.exec(before)?.[0];
  if (sign === undefined) return null;
  const beforeName = before.slice(sign.length);
  if (SPECIAL.test(beforeName)) return null;
  return {
    sign,
    json: json ? { beforeName, beforeArgs: rendered.slice(nameAt + name.length, argsAt) } : null,
  };
}

function isSign(text: string): boolean {
  return SIGN.exec(text)?.[0] === text;
}

function placeOf(rendered: string, word: string): number | null {
  const at = rendered.lastIndexOf(word);
  return at === -1 ? null : at;
}
