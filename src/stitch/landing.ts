import type { Match } from "./aligner.ts";
import { inkEnd, inkStart } from "./characters.ts";

/**
 * Where the new text begins after a match, blanks decided: the client has blanks at its end (`tail`), and they must come again, since
 * the model may have meant others. Line ends count as equal. `wait`: the blanks are not all there yet; null: others came.
 *
 * @param fresh position in `sent` from which the model did not copy but write: there its spacing is its own
 * @param whole the pass has ended
 */
export function landing(
  sent: string,
  head: string,
  match: Match,
  fresh: number,
  whole: boolean,
): number | "wait" | null {
  const end = inkEnd(sent);
  const tail = sent.slice(end);
  if (tail === "") return match.end;
  if (!sameSpacing(sent, head, match, fresh)) return null;
  const length = sameBlanks(tail, head.slice(match.end, inkStart(head, match.end)));
  if (length !== null) return match.end + length;
  const came = head.slice(match.end);
  if (inkStart(came) < came.length) return null;
  // Nothing but blanks until the end: nothing is new.
  if (whole) return tail.startsWith(came) ? head.length : null;
  return sameBlanks(came, tail) !== null || tail.startsWith(came) ? "wait" : null;
}

/** Whether what came again is spaced as before, from `fresh` on: where it is not, its last blanks prove nothing. */
export function sameSpacing(sent: string, head: string, match: Match, fresh: number): boolean {
  const end = inkEnd(sent);
  // The first letter may have become a capital.
  const again = sent.slice(fresh < end ? Math.max(fresh, match.from + 1) : match.from + 1, end);
  return head.slice(match.start + 1, match.end).endsWith(again);
}

/** How many units at the start of `blanks` are `expected`, CRLF and LF being the same; null where they are not. */
function sameBlanks(expected: string, blanks: string): number | null {
  let at = 0;
  for (let i = 0; i < expected.length; i++) {
    const [want, here] = [expected.charAt(i), blanks.charAt(at)];
    if (want === here) at++;
    else if (want === "\n" && blanks.startsWith("\r\n", at)) at += 2;
    // Half of CRLF: the other half is yet to come, and comes alone where the model ends lines with LF.
    else if (want !== "\r" || here !== "\n") return null;
  }
  return at;
}

/**
 * Blanks that were trimmed before the text went upstream, against those that the new pass begins with: which of these the client has
 * already. Nothing is ever inserted. `wait`: more may come.
 */
export function alreadyGiven(trimmed: string, head: string, whole: boolean): number | "wait" {
  if (trimmed === "") return 0;
  const blanks = head.slice(0, inkStart(head));
  const again = sameBlanks(trimmed, blanks);
  if (again !== null) return again;
  if (blanks.length === head.length && !whole && blanks.length <= 2 * trimmed.length) return "wait";
  if (trimmed.endsWith(blanks)) return blanks.length;
  return blanks === " " && /\n/.test(trimmed) ? 1 : 0;
}
