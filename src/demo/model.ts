import { asArray, asNumber, asObject, asString, type JsonObject } from "../core/json.ts";

/** The one reply that the demo's model knows. A piece of code shows best what a cut costs. */
export const RECITAL = `A small retry helper in JavaScript:

\`\`\`js
async function retry(task, max = 3) {
  for (let turn = 1; ; turn++) {
    try {
      return await task(turn);
    } catch (error) {
      if (turn >= max) throw error;
      await sleep(100 * 2 ** turn);
    }
  }
}

const sleep = (ms) =>
  new Promise((wake) => {
    setTimeout(wake, ms);
  });
\`\`\`

It tries three times: after a failure
it waits for 200 ms, then for 400 ms.
`;

/** What the model says to one request, and what that costs. */
export interface Recitation {
  readonly tokens: readonly string[];
  readonly finish: "stop" | "length";
  readonly promptTokens: number;
}

export interface ModelTraits {
  /** Tokens, prompt and reply together. */
  readonly window: number;
  /** Goes on with a trailing assistant message; otherwise such a message is closed and a new one begun. */
  readonly resumes: boolean;
}

/** The reply to a chat request, as far as cap and window let it come. */
export function recite(body: JsonObject, traits: ModelTraits): Recitation {
  const turns = turnsOf(body);
  const promptTokens = turns.reduce((sum, turn) => sum + 4 + tokenize(turn.text).length, 0);
  const room = Math.max(0, traits.window - promptTokens);
  const whole = tokenize(RECITAL.slice(startOf(turns, traits.resumes)));
  const tokens = whole.slice(0, Math.min(capOf(body), room));
  return { tokens, finish: tokens.length < whole.length ? "length" : "stop", promptTokens };
}

/** Pieces of up to five characters with the blanks before them, so that caps cut inside of words as real ones do. */
export function tokenize(text: string): string[] {
  return text.match(/\n+| *[^\s]{1,5}|[^\S\n]+/g) ?? [];
}

interface Turn {
  readonly role: string;
  readonly text: string;
}

function turnsOf(body: JsonObject): Turn[] {
  return asArray(body.messages).map((message) => {
    const { role, content } = asObject(message) ?? {};
    const parts = asArray(content).map((part) => asString(asObject(part)?.text) ?? "");
    return { role: asString(role) ?? "user", text: asString(content) ?? parts.join("") };
  });
}

/** Tokens; infinite where none was asked, or -1. */
function capOf(body: JsonObject): number {
  const asked = asNumber(body.n_predict) ?? asNumber(body.max_completion_tokens) ?? asNumber(body.max_tokens) ?? -1;
  return asked < 0 ? Number.POSITIVE_INFINITY : asked;
}

/** Where in the recital the reply begins, in characters: behind what the conversation shows of it already. */
function startOf(turns: readonly Turn[], resumes: boolean): number {
  const last = turns.at(-1);
  if (last?.role === "assistant") return resumes ? saidOf(last.text) : 0;
  const partial = turns.at(-2);
  if (last === undefined || partial?.role !== "assistant") return 0;
  const said = saidOf(partial.text);
  return said === 0 ? 0 : said - quotedEnd(last.text, RECITAL.slice(0, said));
}

/** Characters of the recital that a partial reply holds; 0 where it is another text, or the whole. */
function saidOf(partial: string): number {
  return RECITAL.startsWith(partial) && partial.length < RECITAL.length ? partial.length : 0;
}

/** Fewer characters than these are in any sentence by chance. */
const SHORTEST_QUOTE = 4;

/** An order to begin with the last words quotes them: how many characters of the end of `said` stand in it. */
function quotedEnd(order: string, said: string): number {
  let length = 0;
  while (length < said.length && order.includes(said.slice(said.length - length - 1))) length++;
  return length < SHORTEST_QUOTE ? 0 : length;
}
