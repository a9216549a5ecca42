import type { Case } from "./case.ts";
import { GROWTH_CASES } from "./growth.ts";
import { HEALING_CASES } from "./healing.ts";
import { MEMORY_CASES } from "./memory.ts";
import { PLAIN_CASES } from "./plain.ts";
import { PROMPT_CASES } from "./prompts.ts";
import { STARTUP_CASES } from "./startup.ts";
import { STREAM_CASES } from "./streams.ts";

export const CASES: readonly Case[] = [
  ...PLAIN_CASES,
  ...STREAM_CASES,
  ...PROMPT_CASES,
  ...HEALING_CASES,
  ...MEMORY_CASES,
  ...STARTUP_CASES,
  ...GROWTH_CASES,
];
