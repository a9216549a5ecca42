import { ERRORS, type Failure } from "../../core/error.ts";
import type { JsonObject } from "../../core/json.ts";

/** A failure as OpenAI's wires tell it. */
export function errorObject(failure: Failure): JsonObject {
  const { code, message, param } = failure;
  return { error: { message, type: ERRORS[code].type, param, code, lastword: facts(failure) } };
}

function facts(failure: Failure): JsonObject {
  const told: JsonObject = {};
  for (const [name, fact] of Object.entries(failure.facts)) {
    told[name] = typeof fact === "object" && fact !== null ? [...fact] : fact;
  }
  return told;
}
