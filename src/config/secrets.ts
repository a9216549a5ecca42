import type { Path } from "./problem.ts";

export const HIDDEN = "***";

/** Which values are secrets as a whole, and which are URLs that may hold some. A new secret key: one row. */
const SECRETS: readonly { readonly at: RegExp; readonly kind: "secret" | "url" }[] = [
  { at: /^listen\.keys(\.|$)/, kind: "secret" },
  { at: /^upstreams\.\d+\.key$/, kind: "secret" },
  { at: /^state\.replayKey$/, kind: "secret" },
  { at: /^upstreams\.\d+\.url$/, kind: "url" },
  { at: /^state\.redis$/, kind: "url" },
];

export function secrecy(path: Path): "open" | "secret" | "url" {
  const at = path.join(".");
  return SECRETS.find((row) => row.at.test(at))?.kind ?? "open";
}

/**
 * A URL without its credentials, query and fragment. Works on text, since what does not parse must not leak either:
 * with an `@` anywhere, all that stands before the last one is hidden.
 */
export function maskUrl(url: string): string {
  const whole = /^([a-z][a-z0-9+.-]*:\/\/)?([\s\S]*)$/i.exec(url);
  const scheme = whole?.[1] ?? "";
  const rest = whole?.[2] ?? "";
  const at = rest.lastIndexOf("@");
  const open = at < 0 ? rest : HIDDEN + rest.slice(at);
  return scheme + open.replace(/([?#])[\s\S]*$/, `$1${HIDDEN}`);
}
