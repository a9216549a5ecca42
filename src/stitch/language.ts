import { isBlank, isWordy } from "./characters.ts";

/** Scripts and the languages that each writes, told apart by their commonest words where it is more than one. */
export type Language = string;

/** Han with this share of kana is Japanese. */
const KANA_SHARE = 0.05;

const SCRIPTS: readonly { readonly script: string; readonly letter: RegExp }[] = [
  { script: "latin", letter: /\p{Script=Latin}/u },
  { script: "cyrillic", letter: /\p{Script=Cyrillic}/u },
  { script: "han", letter: /\p{Script=Han}/u },
  { script: "kana", letter: /[\p{Script=Hiragana}\p{Script=Katakana}]/u },
  { script: "hangul", letter: /\p{Script=Hangul}/u },
  { script: "arabic", letter: /\p{Script=Arabic}/u },
  { script: "hebrew", letter: /\p{Script=Hebrew}/u },
  { script: "thai", letter: /\p{Script=Thai}/u },
  { script: "devanagari", letter: /\p{Script=Devanagari}/u },
  { script: "greek", letter: /\p{Script=Greek}/u },
];

/** Commonest function words, own compilation. To add a language: its 25 or so shortest words that no sentence lacks. */
const COMMON: Readonly<Record<string, ReadonlySet<string>>> = {
  en: words(
    "the a an and or of to in on is are was were be been it that this with for as at by from not but you he she they we his her have has had which will can would until because before although after no nobody any every third in when where then than so if their its",
  ),
  de: words(
    "der die das und oder von zu in im ist sind war waren ein eine einen einem einer es den dem des mit für als auf aus bei nicht aber sich auch wird werden wurde sie er wir ich noch nach nur dass hatte hat weil bis ohne trotz bevor obwohl wenn zum zur beim vom ihr ihre sein seine wollte",
  ),
  fr: words(
    "a à y le la les un une des et ou de du en est sont était dans que qui pour par sur avec au aux ne pas se ce cette il elle nous vous mais plus son sa ses leur dont avait été fut comme tout même très sans après avant bien si ou où lui jusqu parce malgré bien",
  ),
  es: words(
    "a e el la los las un una y o de del en es son era que con por para se su sus al lo como más pero no este esta fue ha también cuando muy sin sobre fueron había estaba porque aunque hasta antes desde donde ya todo ni ese esa hay",
  ),
  pt: words(
    "o a os as um uma e ou de do da dos das em no na nos nas é são era que com por para se seu sua ao à como mais mas não este esta foi também quando muito sem foram havia tinha estava porque embora até antes desde onde já tudo nem pela pelo isso há",
  ),
  it: words(
    "a il lo la i gli le un una e o di del della dei in nel nella è sono era che con per si su al alla come più ma non questo questa ha anche quando molto da dal stato aveva erano perché fino prima dove già tutto né senza suo sua dopo",
  ),
  nl: words(
    "de het een en of van te in op is zijn was waren dat die dit met voor als aan bij uit niet maar ook wordt werd hij zij we ik nog naar er om door",
  ),
  pl: words(
    "i w na z do nie się że jest są był była to jak o od po za przez dla ale tak już tylko który która które oraz być ma go jego jej ich",
  ),
  tr: words(
    "ve bir bu da de ile için çok daha gibi olarak olan ne ama değil var kadar sonra her en o şu ise ya diye mi",
  ),
  ru: words(
    "и в во на с со не что как это по к ко из у за от о но а же бы он она они мы вы я его её их был была было были для то так только ещё или",
  ),
  uk: words(
    "і в у на з не що як це по до із за від о але а ж він вона вони ми ви я його її їх був була було були для то так тільки ще або та є",
  ),
};

const BY_SCRIPT: Readonly<Record<string, readonly string[]>> = {
  latin: ["en", "de", "fr", "es", "pt", "it", "nl", "pl", "tr"],
  cyrillic: ["ru", "uk"],
};

/** By script, the languages that have a common word. */
const SHARING: Readonly<Record<string, ReadonlyMap<string, readonly Language[]>>> = Object.fromEntries(
  Object.entries(BY_SCRIPT).map(([script, languages]) => [script, sharing(languages)]),
);

/** Letters that a text must have before its language is told. */
const ENOUGH_LETTERS = 40;
/** Share of its letters that must be of one script. */
const ONE_SCRIPT = 0.9;
/** Share of its words that must be common ones of the language, shared ones counting in part; code and lists of names have fewer. */
const COMMON_SHARE = 0.08;
/** Characters of new text after which a switch can be told. */
const HEAD = 80;
/** Letters of the text's own script that show at once that it goes on, where the script has one language only. */
const SAME_LETTERS = 6;
/** Common words, shared ones counting in part, that make a language likely. */
const SAME_SCORE = 1.5;
/** And that much more than of any other language. */
const AHEAD = 1.5;
/** The same for another one than before. */
const OTHER_SCORE = 2;
const OTHER_WORDS = 3;
/** Words of a text that show what it does not use. */
const ENOUGH_WORDS = 25;
/** Share of common words below which a language is hardly used. */
const HARDLY = 0.03;

interface Reading {
  readonly script: string;
  readonly letters: number;
  /** Of all letters, those of this script. */
  readonly share: number;
}

/** One of the commonest words of the language: whole as it stands, no half of another. */
export function isCommonWord(word: string, language: Language): boolean {
  return COMMON[language]?.has(word.toLowerCase()) ?? false;
}

/** The language that a text is written in, by script and common words; null where it is mixed, code, or too short to tell. */
export function languageOf(text: string): Language | null {
  const { script, letters, share } = scriptOf(text);
  if (letters < ENOUGH_LETTERS || share < ONE_SCRIPT) return null;
  if (BY_SCRIPT[script] === undefined) return script;
  const [language, ...others] = likely(wordsOf(text), script);
  return language !== undefined && others.length === 0 ? language : null;
}

/** Languages that prose may be in: the best, and what comes near it (Spanish and Portuguese in a short text). None: no prose. */
function likely(found: readonly string[], script: string): Language[] {
  const ranked = rank(found, script);
  const best = ranked[0]?.score ?? 0;
  if (best < COMMON_SHARE * found.length) return [];
  return ranked.filter(({ score }) => score * 2 > best).map(({ language }) => language);
}

/** The language of the text so far, against which new text is read. */
export class Tongue {
  readonly #script: Reading;
  readonly #words: readonly string[];
  readonly #likely: readonly Language[];
  readonly #isWordless: boolean;

  constructor(text: string) {
    this.#isWordless = text.length >= HEAD && !/\p{L}/u.test(text.slice(-HEAD));
    this.#script = scriptOf(text);
    this.#words = wordsOf(text);
    this.#likely = likely(this.#words, this.#script.script);
  }

  /** Whether new text goes on in the same script and language. `unknown`: more of it is needed, up to 80 characters. */
  reads(head: string): "same" | "other" | "unknown" {
    const { script, letters, share } = this.#script;
    if (this.#isWordless) return this.#readsWordless(head);
    if (letters < ENOUGH_LETTERS || share < ONE_SCRIPT) return "same";
    const here = scriptOf(head);
    if (here.script !== script)
      return head.length >= HEAD / 2 && here.letters >= HEAD / 4 && here.share >= ONE_SCRIPT ? "other" : "unknown";
    if (BY_SCRIPT[script] === undefined)
      return here.letters >= SAME_LETTERS && here.share >= ONE_SCRIPT ? "same" : "unknown";
    // Words are read when they are whole: to read each anew with every letter would be most of a seam's cost.
    if (head.length < HEAD && isWordy(head.charAt(head.length - 1))) return "unknown";
    const found = wordsOf(head);
    const ranked = rank(found, script);
    const own = ranked.find(({ language }) => this.#likely.includes(language))?.score ?? 0;
    const other = ranked.find(({ language }) => !this.#likely.includes(language));
    if (own >= SAME_SCORE && own >= AHEAD * (other?.score ?? 0)) return "same";
    if (head.length < HEAD || other === undefined) return "unknown";
    if (this.#isOther(found, other.language, own)) return "other";
    return this.isProse && own < other.score ? "unknown" : "same";
  }

  /** Written in a language that its common words tell. */
  get isProse(): boolean {
    return this.#likely.length > 0;
  }

  /** A line of nothing but numbers and signs does not go on in prose. */
  #readsWordless(head: string): "same" | "other" | "unknown" {
    const [line = "", next] = head.split("\n", 2);
    if (next !== undefined || line.length >= HEAD || /^\s*[^\p{L}\s]/u.test(line)) return "same";
    return scriptOf(line).letters > HEAD / 4 ? "other" : "unknown";
  }

  /** Another language's words rather than its own; in code, words of a language that it hardly uses. */
  #isOther(found: readonly string[], language: Language, own: number): boolean {
    const { script } = this.#script;
    const score = scoreOf(found, script, language);
    if (score < OTHER_SCORE || found.filter((word) => isCommonWord(word, language)).length < OTHER_WORDS) return false;
    if (this.isProse) return score >= 2 * own;
    return this.#words.length >= ENOUGH_WORDS && scoreOf(this.#words, script, language) < HARDLY * this.#words.length;
  }
}

/** Characters of new text that are enough to tell a switch. */
export const LANGUAGE_HEAD = HEAD;

function scoreOf(found: readonly string[], script: string, language: Language): number {
  return rank(found, script).find((ranked) => ranked.language === language)?.score ?? 0;
}

/** Languages of a script by the common words found: a word that several share counts less for each. The best first. */
function rank(found: readonly string[], script: string): { readonly language: Language; readonly score: number }[] {
  const scores = new Map<Language, number>();
  for (const word of found) {
    const sharing = SHARING[script]?.get(word) ?? [];
    for (const language of sharing) scores.set(language, (scores.get(language) ?? 0) + 1 / sharing.length);
  }
  return [...scores].map(([language, score]) => ({ language, score })).sort((a, b) => b.score - a.score);
}

function scriptOf(text: string): Reading {
  const counts = new Map<string, number>();
  let letters = 0;
  for (const character of text) {
    if (isBlank(character.charCodeAt(0))) continue;
    const script = scriptAt(character);
    if (script === undefined) continue;
    letters++;
    counts.set(script, (counts.get(script) ?? 0) + 1);
  }
  const kana = counts.get("kana") ?? 0;
  const han = counts.get("han") ?? 0;
  counts.delete("kana");
  counts.delete("han");
  if (kana + han > 0) counts.set(kana >= KANA_SHARE * (kana + han) ? "japanese" : "chinese", kana + han);
  const [script, most] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ["", 0];
  return { script, letters, share: letters === 0 ? 0 : most / letters };
}

/** The script of a letter; undefined for what is none, or of a script that is not told apart. */
function scriptAt(character: string): string | undefined {
  const unit = character.charCodeAt(0);
  if (unit >= 0x80) return SCRIPTS.find(({ letter }) => letter.test(character))?.script;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x7a ? "latin" : undefined;
}

/** Words that stand alone: letters inside of base64 or identifiers are none. */
function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{M}\p{N}_+/=]+/gu) ?? []).filter((word) => /^[\p{L}\p{M}]+$/u.test(word));
}

function sharing(languages: readonly Language[]): ReadonlyMap<string, readonly Language[]> {
  const by = new Map<string, Language[]>();
  for (const language of languages)
    for (const word of COMMON[language] ?? []) by.set(word, [...(by.get(word) ?? []), language]);
  return by;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}
