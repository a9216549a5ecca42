import { asArray, asObject, asString, isObject, type Json, type JsonObject } from "../../core/json.ts";

/**
 * Log probabilities of one choice: chat's list of tokens under `content`, or completions' four parallel arrays.
 * Null where there are none.
 */
export function tokensOf(logprobs: Json | undefined): string[] | null {
  const given = asObject(logprobs);
  const listed = given?.content ?? given?.tokens;
  if (!Array.isArray(listed)) return null;
  return listed.map((token) => asString(token) ?? asString(asObject(token)?.token) ?? "");
}

/**
 * Several passes' log probabilities as one, or null where a pass lacks them or they do not spell `text`: better none than
 * arrays that are off by a token.
 */
export function joinLogprobs(passes: readonly (Json | undefined)[], text: string): JsonObject | null {
  const tokens: string[] = [];
  const joined: JsonObject = {};
  for (const pass of passes) {
    const more = tokensOf(pass);
    if (more === null) return null;
    tokens.push(...more);
    for (const [name, value] of Object.entries(asObject(pass) ?? {})) {
      joined[name] = Array.isArray(value) ? [...asArray(joined[name]), ...value] : (joined[name] ?? value);
    }
  }
  if (tokens.join("") !== text) return null;
  if (Array.isArray(joined.text_offset)) joined.text_offset = offsets(tokens, joined.text_offset[0]);
  return joined;
}

/** Later passes count from their own start; a client reads offsets into the whole text. */
function offsets(tokens: readonly string[], first: Json | undefined): number[] {
  let at = typeof first === "number" ? first : 0;
  return tokens.map((token) => {
    const here = at;
    at += token.length;
    return here;
  });
}

/** The run of these tokens that spells `text`, which may be shorter where a seam dropped some; null where no run does. */
export function runOf(logprobs: Json | undefined, text: string): JsonObject | null {
  const tokens = tokensOf(logprobs);
  if (tokens === null || !isObject(logprobs)) return null;
  const start = tokens.join("").indexOf(text);
  if (start < 0 || text === "") return null;
  let at = 0;
  const from = tokens.findIndex((token) => {
    if (at === start) return true;
    at += token.length;
    return false;
  });
  let spelled = "";
  let to = from;
  while (from >= 0 && spelled.length < text.length && to < tokens.length) spelled += tokens[to++];
  if (spelled !== text) return null;
  return Object.fromEntries(
    Object.entries(logprobs).map(([name, value]) => [name, Array.isArray(value) ? value.slice(from, to) : value]),
  );
}
