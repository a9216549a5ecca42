import type { JsonState } from "./json.ts";

/** Characters of whitespace, or of one number, that no model writes on purpose. */
const LOOP = 200;

/**
 * A grammar that allows whitespace or digits without end can trap a model in them until the cap. That looks like a cut, but more
 * tokens bring more of the same. Seen outside of strings only: there, long runs are content.
 */
export function constraintLoop(state: JsonState): "whitespace" | "digits" | null {
  if (state.broken || state.complete) return null;
  if (state.blanks >= LOOP) return "whitespace";
  return state.digits >= LOOP ? "digits" : null;
}
