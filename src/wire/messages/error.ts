import type { Failure } from "../../core/error.ts";
import { asObject, type JsonObject } from "../../core/json.ts";
import * as openai from "../openai/error.ts";

/** A failure as the Messages wire tells it. */
export function errorObject(failure: Failure): JsonObject {
  const { param, ...error } = asObject(openai.errorObject(failure).error) ?? {};
  return { type: "error", error };
}
