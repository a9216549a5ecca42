/** What is still a schema, and not a load. Far above what the hosted APIs take (OpenAI: 5,000 properties, 120,000 characters, 10 levels). */
const MAX_VALUES = 50_000;
const MAX_CHARACTERS = 512_000;
const MAX_DEPTH = 128;

/** The schema as JSON text, or null where it is beyond bounds. Looks at no more of it than the bounds allow. */
export function schemaText(schema: unknown): string | null {
  let values = 0;
  let characters = 0;
  const left: { readonly value: unknown; readonly depth: number }[] = [{ value: schema, depth: 0 }];
  for (let item = left.pop(); item !== undefined; item = left.pop()) {
    const { value, depth } = item;
    values++;
    if (typeof value === "string") characters += value.length;
    if (depth > MAX_DEPTH || values > MAX_VALUES || characters > MAX_CHARACTERS) return null;
    if (typeof value !== "object" || value === null) continue;
    for (const key in value) {
      characters += key.length;
      left.push({ value: (value as Record<string, unknown>)[key], depth: depth + 1 });
      if (left.length > MAX_VALUES) return null;
    }
  }
  return JSON.stringify(schema);
}
