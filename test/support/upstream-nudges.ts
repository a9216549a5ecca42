/** What a model says when a user turn asks it to go on. `rest` is what would follow `partial` exactly. */
export type Nudge = (partial: string, nudge: string, rest: string) => string;

/** The ways in which models take a nudge. */
export const nudges = {
  exact: (_partial: string, _nudge: string, rest: string) => rest,
  /** Begins with the last word again, also where it was cut inside of it. */
  repeatWord: (partial: string, _nudge: string, rest: string) => (/\S+\s*$/.exec(partial)?.[0] ?? "") + rest,
  /** Begins with the last sentence or line again. */
  repeatSentence: (partial: string, _nudge: string, rest: string) => {
    const body = partial.trimEnd();
    const starts = [...body.matchAll(/[.!?]\s+|\n+/g)].map((end) => end.index + end[0].length);
    return partial.slice(starts.at(-1) ?? 0) + rest;
  },
  /** Says everything again. */
  restart: (partial: string, _nudge: string, rest: string) => partial + rest,
  nothing: () => "",
  /** Speaks of what it is about to do, then goes on exactly. */
  preamble:
    (words: string): Nudge =>
    (_partial, _nudge, rest) =>
      words + rest,
  /** Obeys an order to begin with the quoted last words; without one it goes on exactly. */
  anchor: (partial: string, nudge: string, rest: string) => {
    const starts = quoted(nudge)
      .map((words) => partial.lastIndexOf(words.trimEnd()))
      .filter((at) => at >= 0);
    return starts.length === 0 ? rest : partial.slice(Math.min(...starts)) + rest;
  },
} satisfies Record<string, Nudge | ((words: string) => Nudge)>;

/** Texts between quotation marks, backticks, fences or tags. */
function quoted(text: string): string[] {
  const forms = [
    /"((?:[^"\\]|\\.)*)"/gs,
    /“([^”]*)”/g,
    /«([^»]*)»/g,
    /```[a-z]*\n(.*?)\n```/gs,
    /`([^`]+)`/g,
    /<([a-z_]+)>\n?(.*?)\n?<\/\1>/gs,
  ];
  return forms
    .flatMap((form) => [...text.matchAll(form)].flatMap((found) => [found.at(-1) ?? "", unescaped(found.at(-1) ?? "")]))
    .filter((words) => words.trim() !== "");
}

/** A JSON string's text, for orders that quote with escapes. */
function unescaped(words: string): string {
  try {
    return String(JSON.parse(`"${words}"`));
  } catch {
    return "";
  }
}
