import { english, numbers } from "../english.ts";

/** Prompts as chat messages. Deterministic: the same number gives the same prompt. */
export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export const SMALL: readonly Message[] = [
  { role: "system", content: "You answer in one sentence." },
  { role: "user", content: "What is the capital of France, and since when has it been?" },
];

/** Kilobytes of a large prompt, and of the messages that prompts are made of: conversations of agents rather than single huge texts. */
export const LARGE_KB = 400;
const MESSAGE_KB = 10;

/** English of that size in messages of 10 KB at most, the beginning of each told apart from those of all other prompts. */
export function large(number: number, kilobytes = LARGE_KB): Message[] {
  const messages = Math.ceil(kilobytes / MESSAGE_KB);
  return numbered(number, messages, (kilobytes * 1000) / messages);
}

/** A conversation in its so-manieth turn, of 1 KB each; what came before it is as it was. */
export function conversation(number: number, turns: number): Message[] {
  return numbered(number, 2 * turns, 500);
}

function numbered(number: number, messages: number, bytes: number): Message[] {
  return Array.from({ length: messages }, (_, index) => {
    const title = `Note ${String(number).padStart(NUMBER_WIDTH, "0")} on part ${index}. `;
    return { role: roleOf(index), content: title + english(index, bytes - title.length) };
  });
}

function roleOf(index: number): Message["role"] {
  if (index === 0) return "system";
  return index % 2 === 1 ? "user" : "assistant";
}

/** Digits of a prompt's number, so that the prompts of all numbers are equally long. */
export const NUMBER_WIDTH = 12;

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
