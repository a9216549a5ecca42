import { inkStart } from "./characters.ts";
import { type Fence, openFence, opensFence, reopens } from "./fence.ts";
import { isPreamble } from "./remarks.ts";

/** Units in which a preamble must end. */
const LONGEST_PREAMBLE = 200;

/**
 * What models put in front of going on, known by its shape: "Sure, here is the rest:", an ellipsis, the fence or display formula that is
 * open already, the header of the table that is being written. Passed over only where an alignment follows.
 */
export class Opening {
  readonly #fence: Fence | null;
  /** Lines of the text so far that open what is still open: a display formula, an environment, a table's header. */
  readonly #openers: ReadonlySet<string>;

  constructor(sent: string) {
    this.#fence = openFence(sent);
    this.#openers = new Set([...mathOpener(sent), ...tableHeader(sent), ...lastFence(sent)]);
  }

  /**
   * Where the first piece of an opening ends that begins at a position of the head; `wait`: not to be told yet; null: it begins otherwise.
   *
   * @param whole the pass has ended
   */
  next(head: string, from: number, whole: boolean): number | "wait" | null {
    const at = inkStart(head, from);
    if (head.startsWith("…", at)) return at + 1;
    if (head.startsWith("...", at)) return at + 3;
    const newline = head.indexOf("\n", at);
    const end = newline < 0 ? head.length : newline;
    const line = head.slice(at, Math.min(end, at + LONGEST_PREAMBLE + 1)).trimEnd();
    if (line.length > LONGEST_PREAMBLE) return null;
    const colon = /[:：]\s/u.exec(line);
    if (colon !== null && isPreamble(line.slice(0, colon.index + 1))) return at + colon.index + 1;
    if (newline < 0 && !whole) return "wait";
    const opens = this.#openers.has(line) || isPreamble(line) || (this.#fence !== null && reopens(this.#fence, line));
    return opens ? end : null;
  }
}

/** The last fence line, if it opens: in a block that shows Markdown, what looks open is not by the rules, but models reopen it. */
function lastFence(sent: string): string[] {
  const last =
    sent
      .slice(-8_000)
      .match(/^[ >]{0,12}(?:`{3,}|~{3,}).*$/gm)
      ?.at(-1)
      ?.trim() ?? "";
  return opensFence(last)?.info ? [last] : [];
}

/** The line that opened the display formula or environment in which the text ends. */
function mathOpener(sent: string): string[] {
  const tail = sent.slice(-4_000);
  const open: string[] = [];
  for (const raw of tail.split("\n")) {
    const line = raw.trim();
    const last = open.at(-1);
    if (line === "$$") last === "$$" ? open.pop() : open.push("$$");
    else if (line === "\\[") open.push(line);
    else if (line === "\\]" && last === "\\[") open.pop();
    else if (/^\\begin\{[^}]{1,40}\}/.test(line)) open.push(line);
    else if (/^\\end\{[^}]{1,40}\}/.test(line) && last?.startsWith("\\begin")) open.pop();
  }
  return open;
}

const SEPARATOR = /^\|?(?:\s*:?-+:?\s*\|)+\s*:?-*:?\s*$/;

/** Header and separator of the table in which the text ends. */
function tableHeader(sent: string): string[] {
  const lines = sent.slice(-8_000).split("\n");
  let at = lines.length - 1;
  while (at > 0 && (lines[at - 1] ?? "").trimStart().startsWith("|")) at--;
  const [header, separator] = [lines[at]?.trim() ?? "", lines[at + 1]?.trim() ?? ""];
  return header.startsWith("|") && SEPARATOR.test(separator) && separator.length < 500 ? [header, separator] : [];
}
