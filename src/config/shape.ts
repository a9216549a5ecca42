import * as z from "zod";
import type { Path } from "./problem.ts";

/** The schema that stands at a path, without its wrappers; null where the path leads out of the schema. */
function shapeAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType | null {
  let at: z.core.$ZodType | null = bare(schema);
  for (const step of path) {
    if (at instanceof z.ZodObject && typeof step === "string") at = at.shape[step] ?? null;
    else if (at instanceof z.ZodArray && typeof step === "number") at = at.element;
    else return null;
    if (at !== null) at = bare(at);
  }
  return at;
}

/** Keys that an object at this path may have. */
export function keysAt(schema: z.core.$ZodType, path: Path): string[] {
  const at = shapeAt(schema, path);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** A value that came as text (flag, environment, `${VAR}`) in the type that the schema has there; unchanged where it does not read as one. */
export function fromText(schema: z.core.$ZodType, path: Path, text: string): string | number | boolean {
  const at = shapeAt(schema, path);
  if (at instanceof z.ZodNumber && /^\s*-?\d+(\.\d+)?\s*$/.test(text)) return Number(text);
  if (at instanceof z.ZodBoolean && (text === "true" || text === "false")) return text === "true";
  return text;
}

function bare(schema: z.core.$ZodType): z.core.$ZodType {
  let at = schema;
  while (at instanceof z.ZodDefault || at instanceof z.ZodPrefault || at instanceof z.ZodOptional) at = at.unwrap();
  return at;
}
