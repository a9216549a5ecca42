/** Characters, not bytes. */
const LONGEST = 128;
const PLAIN = /^[ -~]*$/;

/** A name from outside as it may be shown: at most 128 characters, without controls that would forge lines or colours. */
export function shown(name: unknown): string {
  if (typeof name !== "string" || name === "") return "unknown";
  // Nearly all names, at a tenth of the price.
  if (name.length <= LONGEST && PLAIN.test(name)) return name;
  return name.slice(0, LONGEST).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

/** The name under which a model is counted. */
export type ModelLabel = (name: unknown) => string;

/**
 * Names come from clients and need never repeat: the first `most` are told apart, all further ones are `other`.
 * Metrics and tallies share one of these, so that they tell the same models apart.
 */
export function modelLabels(most: number): ModelLabel {
  const known = new Set<string>();
  return (name) => {
    const label = shown(name);
    if (known.has(label) || label === "unknown") return label;
    if (known.size >= most) return "other";
    known.add(label);
    return label;
  };
}
