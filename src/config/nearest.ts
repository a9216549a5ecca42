/** The candidate that takes the fewest edits from `word`, case and separators aside; null where there is none. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const from = plain(word);
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const edits = distance(from, plain(candidate));
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** `max_attempts` and `maxAttempts` are the same word to the person who typed it. The cut bounds the work. */
function plain(word: string): string {
  return word
    .replace(/[-_. ]/g, "")
    .toLowerCase()
    .slice(0, 64);
}

/** Levenshtein distance, one row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
