/** UTF-16 units of one slice: what is hashed, measured and remembered by itself. */
const SLICE = 16_384;
/** How far back a good place for a cut is looked for. */
const SEARCH = 2_048;

/**
 * Cuts a long text where every vocabulary would cut it too, so that the slices' tokens sum up to the text's, and so that a text that grows
 * keeps its first slices. Only in an unbroken run of more than 2,000 characters is a cut forced, at the cost of a token or so.
 */
export function slicesOf(text: string): readonly string[] {
  if (text.length <= SLICE + SEARCH) return [text];
  const slices: string[] = [];
  let from = 0;
  while (text.length - from > SLICE + SEARCH) {
    const to = cutBefore(text, from + SLICE);
    slices.push(text.slice(from, to));
    from = to;
  }
  slices.push(text.slice(from));
  return slices;
}

function cutBefore(text: string, end: number): number {
  for (let i = end; i > end - SEARCH; i--) {
    if (
      isLetterOrDigit(text.charCodeAt(i + 1)) &&
      text.charCodeAt(i) === 0x20 &&
      isLetterOrDigit(text.charCodeAt(i - 1))
    )
      return i;
    // A line break belongs to what stands before it, and a letter never does.
    if (text.charCodeAt(i - 1) === 0x0a && isLetterOrDigit(text.charCodeAt(i))) return i;
  }
  // Not between the halves of a surrogate pair.
  const second = text.charCodeAt(end);
  return second >= 0xdc00 && second < 0xe000 ? end - 1 : end;
}

/** ASCII letters and digits: the split rules agree on them. */
function isLetterOrDigit(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39);
}
