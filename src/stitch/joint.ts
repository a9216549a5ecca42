import { characterAt, characterBefore, inkEnd, inkStart, isBlank, isWordy } from "./characters.ts";
import { openFence, opensFence } from "./fence.ts";
import { isCommonWord, languageOf } from "./language.ts";

/**
 * What two texts show where they meet, if the second may also be a new turn that went on and lost its first blanks.
 * - `resumed`: no message begins like that: " was", ", then", "'re", a lone line break, an indentation
 * - `plain`: nothing to be seen, or what a lost blank would have been is there already
 * - `glued`: a blank may be missing: "that" + "was"
 * - `wait`: more of the second text is needed
 */
export type Meeting = "resumed" | "plain" | "glued" | "wait";

/** A word fragment is read up to this length. */
const LONGEST_FRAGMENT = 24;
/** Blanks at the start of a pass are read up to this length. */
const LONGEST_BLANKS = 40;
/** Text in which the words of a doubtful joint are looked for. */
const KNOWN_WORDS = 4_000;
/** The end of the text that tells its language. */
const LANGUAGE_TAIL = 1_500;
/** A fragment of this length that is no word is an ending: "pump" + "s". */
const ENDING = 2;
/** A word is read up to this length. */
const LONGEST_WORD = 30;
/** A line of prose rather than of verse, a list or code: it ends with an empty line. */
const PROSE_LINE = 40;

const CLOSING = /[,.;:!?%)\]}»”…。、，！？：；）」』،؛؟।]/u;
/** Closing signs that some write with a space in front. */
const SPACED_CLOSING = /[;:!?»”%}\])]/u;
const IDEOGRAPHIC = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々〆]/u;
/** A run without blanks that is longer than any word has none to lose: base64, a hash. */
const UNBROKEN = /[\w+/=-]{30}$/;
/** No word begins like this in the languages that are written with Latin letters here. */
const MID_WORD = /^(?:bb|ck|ct|dd|ff|gg|ld|lt|mp|nc|nd|ng|nk|nt|pp|rd|rk|rm|rn|rt|ss|tt)/;

/**
 * @param sent the text so far
 * @param head what the pass has brought, not empty
 * @param whole the pass has ended
 */
export function meet(sent: string, head: string, whole: boolean): Meeting {
  const blanks = head.slice(0, inkStart(head));
  if (blanks === head) return whole || blanks.length > LONGEST_BLANKS ? "plain" : "wait";
  const last = characterBefore(sent, sent.length);
  if (blanks !== "") return afterBlanks(blanks, characterAt(head, blanks.length));
  if (isBlank(last.charCodeAt(0))) return onBlanks(sent, characterAt(head, 0));
  const fence = gluesFenceLine(sent, head, whole);
  if (fence !== "no") return fence === "wait" ? "wait" : "glued";
  return inkOnInk(sent, last, head, whole);
}

/** Servers put one space or an empty line in front of a new message, and nothing else. */
function afterBlanks(blanks: string, first: string): Meeting {
  if (blanks === " ") return /\p{Ll}/u.test(first) ? "resumed" : "plain";
  return /^(?:\r?\n){2}/.test(blanks) ? "plain" : "resumed";
}

/** The pass begins with ink where the text ends in blanks: were more of them meant? */
function onBlanks(sent: string, first: string): Meeting {
  const end = inkEnd(sent);
  const blanks = sent.slice(end);
  const breaks = blanks.split("\n").length - 1;
  if (breaks === 0 && !blanks.includes("\r")) return "plain";
  if (!blanks.endsWith("\n")) return "glued";
  const line = sent.slice(sent.lastIndexOf("\n", end - 1) + 1, end);
  const inItem = LIST_ITEM.test(line);
  if (breaks > 1) return inItem || openFence(sent) !== null ? "glued" : "plain";
  if (inItem && /\p{L}/u.test(first)) return "glued";
  return endsBlock(line) || /\n[ \t]/.test(sent.slice(-KNOWN_WORDS, end)) ? "glued" : "plain";
}

const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
const OPENS_BLOCK = /[{[(:]$|^(?:@@|#|\\begin)/;

/** After such a line an empty one or an indentation often follows. */
function endsBlock(line: string): boolean {
  if (OPENS_BLOCK.test(line) || opensFence(line.trimStart()) !== null) return true;
  return /^\p{L}/u.test(line) && line.length >= (IDEOGRAPHIC.test(line) ? PROSE_LINE / 2 : PROSE_LINE);
}

function inkOnInk(sent: string, last: string, head: string, whole: boolean): Meeting {
  const first = characterAt(head, 0);
  if (SPACED_CLOSING.test(first) && spaces(sent.slice(-KNOWN_WORDS), first)) return "glued";
  if (CLOSING.test(first)) return closes(last, head, whole);
  if (/['’]/u.test(first)) return head.length < 2 && !whole ? "wait" : /^.\p{Ll}/u.test(head) ? "resumed" : "glued";
  if (IDEOGRAPHIC.test(last) && IDEOGRAPHIC.test(first)) return "plain";
  if (UNBROKEN.test(sent.slice(-LONGEST_WORD))) return "plain";
  if (!/\p{L}/u.test(last) || !/\p{Ll}/u.test(first)) return "glued";
  const fragment = /^\p{L}+/u.exec(head.slice(0, LONGEST_FRAGMENT))?.[0] ?? "";
  if (fragment.length === head.length && !whole && head.length < LONGEST_FRAGMENT) return "wait";
  // An elided word: "jusqu'à" + "l'extinction".
  const elided = /['’]/.test(head.charAt(fragment.length));
  return !elided && isEnding(sent, fragment) ? "plain" : "glued";
}

/** The text puts spaces in front of this sign, as French does. */
function spaces(text: string, sign: string): boolean {
  return new RegExp(`\\s\\${sign}`).test(text) || (sign === "»" && /«\s/.test(text));
}

/** A full stop, a closing bracket and the like begin no message. An ellipsis may. */
function closes(last: string, head: string, whole: boolean): Meeting {
  if (head.startsWith("…")) return "glued";
  if (!head.startsWith(".")) return "resumed";
  if (head.length < 2 && !whole) return "wait";
  return head.startsWith("..") || !isWordy(last) ? "glued" : "resumed";
}

/** The fragment can only be the rest of the word before it: together they are a word that is known, or alone it can be none. */
function isEnding(sent: string, fragment: string): boolean {
  if (MID_WORD.test(fragment)) return true;
  const word = /\p{L}+$/u.exec(sent.slice(-LONGEST_WORD))?.[0] ?? "";
  const known = sent
    .slice(-KNOWN_WORDS, sent.length - word.length)
    .toLowerCase()
    .match(/\p{L}+/gu);
  if (known?.includes((word + fragment).toLowerCase())) return true;
  const language = languageOf(sent.slice(-LANGUAGE_TAIL));
  return language !== null && fragment.length <= ENDING && !isCommonWord(fragment, language);
}

/** Whether text stands on a fence line that is not ended: only the rest of its info string, or its end, may. */
export function gluesFenceLine(sent: string, head: string, whole: boolean): "yes" | "no" | "wait" {
  if (opensFence(sent.slice(sent.lastIndexOf("\n") + 1).trimStart()) === null) return "no";
  const rest = /^[\w+#.`~-]*/.exec(head.slice(0, LONGEST_FRAGMENT))?.[0] ?? "";
  if (rest.length === head.length) return whole || rest.length >= LONGEST_FRAGMENT ? "no" : "wait";
  return /[\n\r{]/.test(head.charAt(rest.length)) ? "no" : "yes";
}

/** The middle of a sentence gone on with: a space and a small letter after a letter. A new message does not begin so. */
export function goesOnMidSentence(sent: string, head: string): boolean {
  return /^ \p{Ll}/u.test(head) && /[\p{L}\p{N}]$/u.test(characterBefore(sent, sent.length));
}
