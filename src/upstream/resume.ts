import type { Resume } from "./dialect.ts";

/** A trailing assistant message is gone on with as it stands; nothing else is needed. */
export const TRAILING: Resume = {
  set: {},
  mark: {},
  trimsTail: false,
  echo: "never",
  thoughts: false,
  setThought: {},
  sure: true,
};

/** The same, where it depends on template, version or provider. */
export const PERHAPS: Resume = { ...TRAILING, sure: false };

/** On `/completions` the prompt and what was generated so far are simply the next prompt. */
export const PROMPT_GOES_ON: Resume = { ...TRAILING };
