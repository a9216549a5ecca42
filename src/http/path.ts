/**
 * The path of a request target as it was sent, without the query; null where it is not a plain path within this server:
 * absolute-form targets, empty, `.` and `..` segments, backslashes and controls, also where they are percent-encoded, once or twice.
 * An encoded slash may stand in a segment, since model names hold slashes. One slash at the end is left as it is.
 */
export function cleanPath(target: string): string | null {
  const query = target.indexOf("?");
  const path = query < 0 ? target : target.slice(0, query);
  if (!path.startsWith("/") || path.includes("#")) return null;
  if (path === "/") return path;
  const segments = path.slice(1).split("/");
  if (segments.at(-1) === "") segments.pop();
  return segments.every(isPlain) ? path : null;
}

function isPlain(segment: string): boolean {
  let text = segment;
  try {
    text = decodeURIComponent(segment);
  } catch {
    return false;
  }
  if (/\\|\p{Cc}|%(?:2e|2f|5c)/iu.test(text)) return false;
  return text.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
