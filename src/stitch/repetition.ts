import { bordersOf } from "./borders.ts";

/** Units of the tail that are looked at; bounds the work. */
const TAIL = 4_000;
/** A fragment shorter than this is no loop yet. Figures of Hermes' repetition guard: 60 characters, 5 times, half of the text. */
const SHORTEST = 400;
const WINDOW = 60;
const TIMES = 5;
const SHARE = 0.5;
/** A shorter unit that alone fills this much of the tail: whitespace, dashes, one token. */
const FILLED = 200;

/**
 * The text has fallen into a loop: one and the same 60 units stand in it 5 times or more, and text that does so makes up half of it or
 * more; or its last 200 units are one short unit over and over. More tokens would bring more of the same, so a cut there is left.
 */
export function isLoop(text: string): boolean {
  const tail = text.slice(-TAIL);
  return (
    (tail.length >= FILLED && FILLED - (bordersOf(tail.slice(-FILLED)).at(-1) ?? 0) <= WINDOW / 4) ||
    (tail.length >= SHORTEST && repeats(tail))
  );
}

function repeats(tail: string): boolean {
  const windows = tail.length - WINDOW + 1;
  const times = new Map<string, number>();
  for (let i = 0; i < windows; i++) {
    const window = tail.slice(i, i + WINDOW);
    times.set(window, (times.get(window) ?? 0) + 1);
  }
  let covered = 0;
  let coveredTo = 0;
  for (let i = 0; i < windows; i++) {
    if ((times.get(tail.slice(i, i + WINDOW)) ?? 0) < TIMES) continue;
    covered += i + WINDOW - Math.max(coveredTo, i);
    coveredTo = i + WINDOW;
  }
  return covered >= SHARE * tail.length;
}
