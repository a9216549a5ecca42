import type { JsonObject } from "../../core/json.ts";
import { namedEvent } from "../sse.ts";
import type { Wire } from "../wire.ts";
import { compose } from "./compose.ts";
import { errorObject } from "./error.ts";
import { frames, parts } from "./frames.ts";
import { history } from "./history.ts";
import { pieces } from "./pieces.ts";
import { FORMAT_FIELD, read } from "./read.ts";
import { MessagesVoice } from "./voice.ts";

/** `POST /v1/messages`. */
export const messages: Wire = {
  name: "messages",
  path: "/messages",
  read,
  pieces,
  history,
  capField: "max_tokens",
  formatField: FORMAT_FIELD,
  alarm: null,
  frame: (event, data) => frames()(event, data),
  frames,
  parts,
  compose,
  voice: (ask, id = "lastword") => new MessagesVoice(ask, `msg_${id}`),
  error: errorObject,
  heartbeat: () => namedEvent({ type: "ping" }),
};

/** The reply of `POST /v1/messages/count_tokens`. */
export function countedTokens(tokens: number): JsonObject {
  return { input_tokens: tokens };
}
