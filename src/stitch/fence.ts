/** A code fence by CommonMark's rules (spec 0.31, section 4.5). */
export interface Fence {
  readonly mark: "`" | "~";
  /** Number of marks, at least 3. A closing fence has as many or more. */
  readonly length: number;
  /** Info string, trimmed. A closing fence has none. */
  readonly info: string;
}

interface OpenFence extends Fence {
  /** Columns that the line's content must be indented by to stay inside the list item that holds the fence. */
  readonly container: number;
  /** Block quote markers in front of it. */
  readonly quotes: number;
}

const MARKER = /^(?:[-+*]|\d{1,9}[.)])(?= |\t|$)/;

/** The fence that is open at the end of a text, or null. The last line counts only if it has ended. Linear. */
export function openFence(text: string): Fence | null {
  if (!text.includes("```") && !text.includes("~~~")) return null;
  let open: OpenFence | null = null;
  /** Content columns of the list items that the current line may continue. */
  let items: number[] = [];
  for (let at = 0; ; ) {
    const end = text.indexOf("\n", at);
    if (end < 0) return open;
    const { quotes, body } = unquote(text.slice(at, end).replace(/\r$/, ""));
    at = end + 1;
    let column = body.length - body.trimStart().length;
    const content = body.slice(column);
    if (content === "") continue;
    items = items.filter((item) => item <= column);
    // A fence ends with the list item or the quote that holds it.
    if (open !== null && (column < open.container || quotes < open.quotes)) open = null;
    if (open !== null) {
      if (column - open.container <= 3 && closes(content, open)) open = null;
      continue;
    }
    let rest = content;
    for (let marker = MARKER.exec(rest); marker !== null; marker = MARKER.exec(rest)) {
      const after = rest.slice(marker[0].length);
      const spaces = Math.max(1, after.length - after.trimStart().length);
      column += marker[0].length + spaces;
      rest = after.trimStart();
      items.push(column);
    }
    const container = items.at(-1) ?? 0;
    const fence = column - container <= 3 ? opensFence(rest) : null;
    if (fence !== null) open = { ...fence, container, quotes };
  }
}

/** The fence that a line (without indentation) opens, or null. The info string of back-ticks holds no back-tick. */
export function opensFence(line: string): Fence | null {
  const found = /^(`{3,}|~{3,})([^\n]*)$/.exec(line);
  const marks = found?.[1];
  if (marks === undefined) return null;
  const info = (found?.[2] ?? "").trim();
  const mark = marks.startsWith("`") ? "`" : "~";
  if (mark === "`" && info.includes("`")) return null;
  return { mark, length: marks.length, info };
}

/** The same block opened once more: by kind, length and info string. A bare fence closes instead. */
export function reopens(open: Fence, line: string): boolean {
  const again = opensFence(line.trim());
  return (
    again !== null &&
    again.info !== "" &&
    again.mark === open.mark &&
    again.length >= open.length &&
    again.info === open.info
  );
}

function closes(content: string, open: Fence): boolean {
  const fence = opensFence(content);
  return fence !== null && fence.mark === open.mark && fence.length >= open.length && fence.info === "";
}

function unquote(line: string): { quotes: number; body: string } {
  let quotes = 0;
  let body = line;
  for (let found = /^ {0,3}> ?/.exec(body); found !== null; found = /^ {0,3}> ?/.exec(body)) {
    quotes++;
    body = body.slice(found[0].length);
  }
  return { quotes, body };
}
