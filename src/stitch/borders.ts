/** For each prefix of a text, the length of its longest proper prefix that is its suffix too (Knuth, Morris, Pratt). Linear. */
export function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let i = 1; i < text.length; i++) {
    while (length > 0 && text.charCodeAt(i) !== text.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(i) === text.charCodeAt(length)) length++;
    borders[i] = length;
  }
  return borders;
}
