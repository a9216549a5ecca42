import { stripVTControlCharacters } from "node:util";

/** Rows of cells as left-aligned columns, two blanks apart. Colours take no room. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + " ".repeat((widths[i] ?? 0) - width(cell) + 2)))
      .join(""),
  );
}

/** Characters that a line takes on a terminal. */
export function width(line: string): number {
  return stripVTControlCharacters(line).length;
}

export function indented(lines: readonly string[], by = 2): string[] {
  return lines.map((line) => " ".repeat(by) + line);
}
