let startedAt = 0;

/**
 * Milliseconds that this turn of the event loop has gone on, from the first time that it was asked. One turn reads up to 2 MiB from every
 * socket that has them: whoever works on what came must look at the clock, or hold up all others.
 */
export function turnTime(): number {
  const now = performance.now();
  if (startedAt === 0) {
    startedAt = now;
    setImmediate(end);
  }
  return now - startedAt;
}

function end(): void {
  startedAt = 0;
}
