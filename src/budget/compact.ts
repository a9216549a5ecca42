/** A message of the history, as far as shortening it is concerned. */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly tokens: number;
}

/** Which messages of a history are sent, by their place, in order. */
export interface Compaction {
  readonly kept: readonly number[];
  /** Of `kept`: tool results whose content is replaced by a notice. */
  readonly shortened: readonly number[];
  readonly dropped: readonly number[];
  /** Tokens that are saved. */
  readonly saved: number;
  /** `saved` is as much as was wanted. */
  readonly enough: boolean;
}

/** Tokens that are left of a shortened tool result: its notice. */
export const NOTICE_TOKENS = 24;

/**
 * Chooses what of a history is left out to save `wanted` tokens: the oldest tool results are shortened first, then the oldest exchanges
 * are dropped whole, so that every call keeps its results. System messages, the last user message, what follows the newest call,
 * and the order stay as they are.
 */
export function compact(messages: readonly Message[], wanted: number): Compaction {
  const units = unitsOf(messages);
  const shortened = new Set<number>();
  const dropped: number[] = [];
  let saved = 0;

  for (const unit of units) {
    for (const place of unit.droppable ? unit.places : []) {
      const message = messages[place];
      if (saved >= wanted || message?.role !== "tool" || message.tokens <= NOTICE_TOKENS) continue;
      shortened.add(place);
      saved += message.tokens - NOTICE_TOKENS;
    }
  }
  for (const unit of units) {
    if (saved >= wanted) break;
    if (!unit.droppable) continue;
    for (const place of unit.places) {
      saved += shortened.has(place) ? NOTICE_TOKENS : (messages[place]?.tokens ?? 0);
      dropped.push(place);
    }
  }

  const gone = new Set(dropped);
  return {
    kept: messages.map((_, place) => place).filter((place) => !gone.has(place)),
    shortened: [...shortened].filter((place) => !gone.has(place)),
    dropped,
    saved,
    enough: saved >= wanted,
  };
}

/** Messages that stay or go together. */
interface Unit {
  readonly places: number[];
  droppable: boolean;
}

/**
 * Before the last user message: an exchange, from one user message to the next. After it: an assistant's message with the results of its calls.
 * The newest unit is what the model is working on.
 */
function unitsOf(messages: readonly Message[]): Unit[] {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const units: Unit[] = [];
  for (const [place, { role }] of messages.entries()) {
    if (role === "system") continue;
    if (place === lastUser) {
      units.push({ places: [place], droppable: false });
      continue;
    }
    const begins = place > lastUser ? role === "assistant" : role === "user";
    const unit = units.at(-1);
    if (begins || unit === undefined || !unit.droppable) units.push({ places: [place], droppable: true });
    else unit.places.push(place);
  }
  const newest = units.at(-1);
  if (newest !== undefined) newest.droppable = false;
  return units;
}
