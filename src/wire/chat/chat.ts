import { ALARM } from "../openai/alarm.ts";
import { errorObject } from "../openai/error.ts";
import { readBody, readFrame, splitFrame } from "../openai/frame.ts";
import { heartbeat } from "../openai/heartbeat.ts";
import type { Wire } from "../wire.ts";
import { compose } from "./compose.ts";
import { chatChoice } from "./delta.ts";
import { history } from "./history.ts";
import { pieces } from "./pieces.ts";
import { read } from "./read.ts";
import { ChatVoice } from "./voice.ts";

/** `POST /v1/chat/completions`. */
export const chat: Wire = {
  name: "chat",
  path: "/chat/completions",
  capField: "max_tokens",
  formatField: "response_format",
  read,
  pieces,
  history,
  alarm: ALARM,
  frame: (event, data) => readFrame(event, data, chatChoice),
  split: (frame) => splitFrame(frame, chatChoice),
  parts: (body) => readBody(body, chatChoice),
  compose,
  voice: (ask, id) => new ChatVoice(ask, id),
  error: errorObject,
  heartbeat: (form) => heartbeat(form, "chat.completion.chunk", chatChoice.silence),
};
