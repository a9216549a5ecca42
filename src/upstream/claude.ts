/**
 * Whether a Claude model goes on with a trailing assistant message (with thinking off): those up to 4.5 do, later ones answer
 * 400 "This model does not support assistant message prefill". Source: Anthropic's docs, "Prefill Claude's response".
 */
export function claudePrefills(model: string): boolean {
  const version = versionOf(model);
  return version !== null && version <= 4.5;
}

/** 3.5 of `claude-3-5-sonnet-20241022`, 4.5 of `anthropic/claude-sonnet-4.5`, 4 of `claude-opus-4-20250514`. */
function versionOf(model: string): number | null {
  const number = String.raw`(\d{1,2})(?:[.-](\d{1,2})(?!\d))?`;
  const found = new RegExp(`claude-(?:[a-z]+-)${number}`).exec(model) ?? new RegExp(`claude-${number}`).exec(model);
  return found === null ? null : Number(`${found[1]}.${found[2] ?? 0}`);
}
