import { bordersOf } from "./borders.ts";

/** Units of the tail that are looked at; bounds the work. */
const TAIL = 4_000;
/** A fragment shorter than this is no loop yet. Figures of Hermes' repetition guard: 60 characters, 5 times, half of the text. */
const SHORTEST = 400;
const WINDOW = 60;
const TIMES = 5;
const SHARE = 0.5;
/** A unit of up to 15 characters (blanks, dashes, one token) is a loop from this length on. */
const SHORTEST_OF_UNIT = 200;
const SHORT_UNIT = 15;
/** A longer one, when it stands there three times in a row. */
const ROUNDS = 3;

/**
 * The text has fallen into a loop: it ends in one and the same unit over and over, or one window of 60 characters makes up half of it.
 * More tokens would bring more of the same, so a cut there is left. A song's refrain is none: there are verses in between.
 */
export function isLoop(text: string): boolean {
  const tail = text.slice(-TAIL);
  return turns(tail) || (tail.length >= SHORTEST && repeats(tail));
}

function turns(tail: string): boolean {
  const borders = bordersOf([...tail].reverse().join(""));
  return borders.some((border, last) => {
    const length = last + 1;
    const period = length - border;
    if (period <= SHORT_UNIT && length >= SHORTEST_OF_UNIT) return true;
    return length >= SHORTEST && length >= ROUNDS * period;
  });
}

function repeats(tail: string): boolean {
  const seen = new Map<string, { times: number; end: number }>();
  for (let i = 0; i + WINDOW <= tail.length; i++) {
    const window = tail.slice(i, i + WINDOW);
    const found = seen.get(window);
    if (found === undefined) seen.set(window, { times: 1, end: i + WINDOW });
    else if (i >= found.end) {
      found.times++;
      found.end = i + WINDOW;
      if (found.times >= TIMES && found.times * WINDOW >= SHARE * tail.length) return true;
    }
  }
  return false;
}
