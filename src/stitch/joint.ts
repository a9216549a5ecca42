import { characterAt, characterBefore, isBlank } from "./characters.ts";
import { openFence, opensFence } from "./fence.ts";
import { isCommonWord, languageOf } from "./language.ts";

/** A word fragment is read up to this length. */
const LONGEST_FRAGMENT = 24;
/** Text in which the words of a doubtful joint are looked for. */
const KNOWN_WORDS = 4_000;
/** The end of the text that tells its language. */
const LANGUAGE_TAIL = 1_500;
/** A fragment of this length that is no word is an ending: "pump" + "s". */
const ENDING = 2;

/** The last word, with nothing but letters since the last blank or opening sign: prose, not an identifier, a path or base64. */
const LAST_WORD = /(?:^|[\s("'“„«¿¡*_])(\p{L}+)$/u;
const LAST_OF_CLAUSE = /(?:^|\s)["'“„«(*_]*\p{L}+[.!?…:;,)]$/u;

/** The middle of a sentence gone on with: a space and a small letter after a letter. A new message does not begin so. */
export function goesOnMidSentence(sent: string, head: string): boolean {
  return /^ \p{Ll}/u.test(head) && /[\p{L}\p{N}]$/u.test(characterBefore(sent, sent.length));
}

/**
 * Whether two whole words seem to stand at the joint with no space between them, as where a new turn goes on and its first space is lost:
 * "that" + "was". Half words are joined like this rightly: "imple" + "mentation". `wait`: the first word is not whole yet.
 *
 * @param whole the pass has ended
 */
export function gluesWords(sent: string, head: string, whole: boolean): "yes" | "no" | "wait" {
  const [last, first] = [characterBefore(sent, sent.length), characterAt(head, 0)];
  if (first === "" || isBlank(first.charCodeAt(0)) || isBlank(last.charCodeAt(0))) return "no";
  const line = sent.slice(sent.lastIndexOf("\n") + 1);
  if (opensFence(line.trimStart()) !== null) return gluesInfo(head, whole);
  if (!/\p{L}/u.test(first) || openFence(sent) !== null) return "no";
  const capital = /\p{Lu}/u.test(first);
  const tail = sent.slice(-80);
  if (LAST_OF_CLAUSE.test(tail)) return capital || /[,;:]/.test(last) ? "yes" : "no";
  const word = LAST_WORD.exec(tail)?.[1];
  if (word === undefined) return "no";
  if (capital) return /\p{Ll}/u.test(last) ? "yes" : "no";
  if (!/\p{Ll}/u.test(first) || !/\p{L}/u.test(last)) return "no";
  const fragment = /^\p{L}+/u.exec(head.slice(0, LONGEST_FRAGMENT))?.[0] ?? "";
  if (fragment.length === head.length && !whole && head.length < LONGEST_FRAGMENT) return "wait";
  return areWords(sent, word, fragment) ? "yes" : "no";
}

function areWords(sent: string, word: string, fragment: string): boolean {
  const known = new Set(
    sent
      .slice(-KNOWN_WORDS, sent.length - word.length)
      .toLowerCase()
      .match(/\p{L}+/gu),
  );
  const language = languageOf(sent.slice(-LANGUAGE_TAIL));
  const isWord = (text: string) => known.has(text.toLowerCase()) || (language !== null && isCommonWord(text, language));
  if (isWord(word + fragment)) return false;
  if (fragment.length <= ENDING) return language !== null && isCommonWord(fragment, language);
  return isWord(word) || isWord(fragment);
}

/** After a fence line that has not ended, only the rest of its info string or its end may come. */
function gluesInfo(head: string, whole: boolean): "yes" | "no" | "wait" {
  const rest = /^[\w+#.-]*/.exec(head.slice(0, LONGEST_FRAGMENT))?.[0] ?? "";
  if (rest.length < head.length)
    return /[\n\r`~ {]/.test(head.charAt(rest.length)) && !/^ ?\w/.test(head.slice(rest.length)) ? "no" : "yes";
  return whole || rest.length >= LONGEST_FRAGMENT ? "no" : "wait";
}
