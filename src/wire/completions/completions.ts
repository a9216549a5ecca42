import { ALARM } from "../openai/alarm.ts";
import { errorObject } from "../openai/error.ts";
import { readBody, readFrame, splitFrame } from "../openai/frame.ts";
import { heartbeat } from "../openai/heartbeat.ts";
import type { Wire } from "../wire.ts";
import { textChoice } from "./choice.ts";
import { compose } from "./compose.ts";
import { pieces, read } from "./read.ts";
import { CompletionsVoice } from "./voice.ts";

/** `POST /v1/completions`. */
export const completions: Wire = {
  name: "completions",
  path: "/completions",
  capField: "max_tokens",
  formatField: "response_format",
  read,
  pieces,
  alarm: ALARM,
  frame: (event, data) => readFrame(event, data, textChoice),
  split: (frame) => splitFrame(frame, textChoice),
  parts: (body) => readBody(body, textChoice),
  compose,
  voice: (ask, id) => new CompletionsVoice(ask, id),
  error: errorObject,
  heartbeat: (form) => heartbeat(form, "text_completion", textChoice.silence),
};
