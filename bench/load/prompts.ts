/** Prompts as chat messages. Deterministic: the same number gives the same prompt. */
export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export const SMALL: readonly Message[] = [
  { role: "system", content: "You answer in one sentence." },
  { role: "user", content: "What is the capital of France, and since when has it been?" },
];

/** A conversation of an agent, rather than one huge text. */
const MESSAGES = 41;
/** Bytes of each message: 400 KB in all. */
const MESSAGE_BYTES = 9750;

const WORDS =
  `the of and to in is that it was for on are with as his they at be this from have or by one had not but what all
were when we there can an your which their said if do will each about how up out them then she many some so these would other into
has more her two like him see time could no make than first been its who now people my made over did down only way find use may
water long little very after words called just where most know get through back much before go good new write our used me man too
any day same right look think also around another came come work three word must because does part even place well such here take
why things help put years different away again off went old number great tell men say small every found still between name should
home big give air line set own under read last never us left end along while might next sound below saw something thought both few
those always show large often together asked house world going want school important until form food keep children feet land side
without boy once animal life enough took four head above kind began almost live page got earth need far hand high year mother light
country father let night picture being study second soon story since white ever paper hard near sentence better best across during
today however sure knew try told young sun thing whole hear example heard several change answer room sea against top turned learn
point city play toward five using himself usually money seen car morning body upon family later turn move face door cut done group
true half red fish plants living black eat short united run book gave order open ground cold really table remember tree course
front space inside ago sad early learned brought close nothing though idea before lived became add become grow draw yet less wind
behind cannot letter among able dog shown mean english rest perhaps certain six feel fire ready green built special ran full town
complete oh person hot anything hold state list stood hundred ten fast felt kept notice strong voice probably area horse matter
stand box start that class piece surface river common stop am talk whether fine`.split(/\s+/);

/** A small generator of numbers (mulberry32), since prompts must be the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

const SENTENCES = Array.from({ length: 2000 }, (_, index) => {
  const next = numbers(index);
  const words = Array.from({ length: 6 + (next() % 14) }, () => WORDS[next() % WORDS.length] ?? "");
  const text = words.join(" ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. `;
});

/** About 400,000 bytes of English in 41 messages, the beginning of each told apart from those of all other prompts. */
export function large(number: number): Message[] {
  return Array.from({ length: MESSAGES }, (_, index) => ({
    role: index === 0 ? "system" : index % 2 === 1 ? "user" : "assistant",
    content: `Note ${String(number).padStart(NUMBER_WIDTH, "0")} on part ${index}. ${english(index)}`,
  }));
}

/** Digits of a prompt's number, so that the prompts of all numbers are equally long. */
export const NUMBER_WIDTH = 12;

function english(seed: number): string {
  const next = numbers(seed);
  const sentences: string[] = [];
  for (let length = 0; length < MESSAGE_BYTES; ) {
    const sentence = SENTENCES[next() % SENTENCES.length] ?? "";
    sentences.push(sentence);
    length += sentence.length;
  }
  return sentences.join("");
}

/** 100,000 characters each, made to hurt a tokenizer. */
export const HOSTILE = {
  "one letter": () => "a".repeat(LENGTH),
  "blanks, then a word": () => `${" ".repeat(LENGTH - 1)}x`,
  "random letters": () => picked("abcdefghijklmnopqrstuvwxyz"),
  "random base64": () => picked("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
  "CJK without punctuation": () =>
    picked(Array.from({ length: 2000 }, (_, i) => String.fromCharCode(0x4e00 + i * 7)).join("")),
  "one emoji": () => "\u{1f600}".repeat(LENGTH / 2),
  "combining marks": () => `e${"\u0301".repeat(LENGTH - 1)}`,
  digits: () => picked("0123456789"),
} as const satisfies Record<string, () => string>;

const LENGTH = 100_000;
export type HostileKind = keyof typeof HOSTILE;

function picked(from: string): string {
  const next = numbers(7);
  let text = "";
  for (let i = 0; i < LENGTH; i++) text += from.charAt(next() % from.length);
  return text;
}
