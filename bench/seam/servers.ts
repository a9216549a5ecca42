import { LANGUAGES, preamble, remark } from "./prose.ts";
import type { Random } from "./random.ts";
import { prose, type Sample } from "./texts.ts";

/** What a pass is asked: the text so far as the server is given it, and the words that a nudge wants first ("" where it wants none). */
interface Asked {
  readonly partial: string;
  readonly anchor: string;
}

/**
 * A server that knows the whole reply and goes on with it in its own manner. `true` ones say what the reply says, once or twice; the
 * others do not, and nothing they write may reach the client.
 */
export interface Behaviour {
  readonly name: string;
  readonly true: boolean;
  readonly write: (sample: Sample, asked: Asked, random: Random) => string;
}

const rest = ({ text }: Sample, { partial }: Asked) => text.slice(partial.length);

/** The same message gone on with. */
export const resumes: Behaviour = { name: "resumes", true: true, write: rest };

/** Servers that are believed to resume and open a new turn instead. */
export const IGNORING: readonly Behaviour[] = [
  { name: "restates", true: true, write: ({ text }) => text },
  { name: "drifts", true: false, write: drift },
  { name: "remarks", true: false, write: ({ language }) => remark(language) },
  { name: "repeats a sentence", true: true, write: repeatSentence },
  { name: "goes straight on, trimmed", true: true, write: (sample, asked) => rest(sample, asked).trimStart() },
];

/** How chat models answer a nudge. */
export const CHAT: readonly Behaviour[] = [
  { name: "exact", true: true, write: rest },
  { name: "obeys the anchor", true: true, write: obey },
  { name: "trims", true: true, write: (sample, asked) => rest(sample, asked).trimStart() },
  { name: "repeats a word", true: true, write: (sample, asked) => back(sample, asked, /\S+$/) },
  { name: "repeats a sentence", true: true, write: repeatSentence },
  { name: "repeats two lines, respaced", true: true, write: respaced },
  { name: "restarts", true: true, write: ({ text }) => text },
  { name: "restarts and drifts", true: false, write: drift },
  {
    name: "preamble",
    true: true,
    write: (sample, asked, random) =>
      `${preamble(random, sample.language)}\n\n${random.chance(0.5) ? obey(sample, asked) : rest(sample, asked).trimStart()}`,
  },
  { name: "reopens the fence", true: true, write: reopen },
  { name: "wraps all in a fence", true: false, write: (sample, asked) => `\`\`\`\n${obey(sample, asked)}\n\`\`\`` },
  { name: "remarks", true: false, write: ({ language }) => remark(language) },
  { name: "loops", true: false, write: (sample, asked) => `${lastSentence(sample, asked)} `.repeat(20) },
  {
    name: "another language",
    true: false,
    write: (sample, asked, random) => {
      const other = random.pick(LANGUAGES.filter((language) => language !== sample.language));
      // Only prose has a language from which another can be told once the last words were copied as asked.
      const copies = sample.name.startsWith("prose") && random.chance(0.5);
      return `${copies ? `${asked.anchor} ` : ""}${prose(random, other)}`;
    },
  },
];

function obey(sample: Sample, asked: Asked): string {
  return asked.anchor + rest(sample, asked);
}

/** Begins again at the start of what `tail` matches at the end of the partial. */
function back(sample: Sample, asked: Asked, tail: RegExp): string {
  const again = tail.exec(asked.partial.trimEnd())?.[0] ?? "";
  return again + sample.text.slice(asked.partial.trimEnd().length);
}

function lastSentence({ text }: Sample, { partial }: Asked): string {
  const starts = [...partial.matchAll(/[.!?]\s+|[。\n]+\s*/g)].map((end) => end.index + end[0].length);
  return text.slice(starts.filter((at) => at < partial.length).at(-1) ?? 0, partial.length);
}

function repeatSentence(sample: Sample, asked: Asked): string {
  return lastSentence(sample, asked) + rest(sample, asked);
}

/** The last two lines (or sentences) once more, other blanks between their words. */
function respaced(sample: Sample, asked: Asked, random: Random): string {
  const lines = asked.partial
    .trimEnd()
    .split("\n")
    .filter((line) => line.trim() !== "");
  const tail = lines.length > 2 ? lines.slice(-2).join("\n") : lastSentence(sample, asked);
  const other = tail.replace(/(?<=\S) (?=\S)/g, random.pick(["  ", "\n", "\t", "\u00a0"])).replace(/\n\s*/g, "\n  ");
  return other + sample.text.slice(asked.partial.trimEnd().length);
}

/** From the top, and before the cut another story. */
function drift(sample: Sample, asked: Asked, random: Random): string {
  const turn = random.between(4, Math.max(5, Math.floor(asked.partial.length * 0.8)));
  const other = random.pick(["Zwölf", "quite otherwise", "全く別の", "совсем иначе"]);
  return `${sample.text.slice(0, turn)}${other} ${prose(random, sample.language)}`;
}

/** Opens the block anew that is open already; outside of one it obeys. */
function reopen(sample: Sample, asked: Asked): string {
  const fences = [...asked.partial.matchAll(/^ {0,3}(```+|~~~+)([a-z]*)/gm)];
  const last = fences.at(-1);
  return last !== undefined && last[2] !== "" ? `${last[1]}${last[2]}\n${obey(sample, asked)}` : obey(sample, asked);
}
