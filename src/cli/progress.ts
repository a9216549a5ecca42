/** `process.stderr`, or what a test has in its place. */
interface Line {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface Progress {
  /** What goes on from now on. */
  step(what: string): void;
  /** Writes a line that stays, on a terminal or not. */
  say(line: string): void;
  /** Takes the line away. */
  done(): void;
}

/** Quick work needs no words. */
const PATIENCE_MS = 1000;
const CLEAR = "\r\x1b[K";

/** Says on a terminal what goes on, once it has taken more than a second; elsewhere nothing. */
export function progress(line: Line): Progress {
  if (line.isTTY !== true)
    return { step: () => undefined, say: (text) => void line.write(`${text}\n`), done: () => undefined };
  const began = performance.now();
  let now = "";
  let drawn = false;
  const draw = () => {
    drawn = true;
    line.write(`${CLEAR}${now} (${Math.round((performance.now() - began) / 1000)} s)`);
  };
  const timer = setInterval(draw, PATIENCE_MS);
  return {
    step(what) {
      now = what;
      if (drawn) draw();
    },
    say(text) {
      line.write(`${drawn ? CLEAR : ""}${text}\n`);
    },
    done() {
      clearInterval(timer);
      if (drawn) line.write(CLEAR);
    },
  };
}
