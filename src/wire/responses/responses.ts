import { errorObject } from "../openai/error.ts";
import type { Wire } from "../wire.ts";
import { compose } from "./compose.ts";
import { frames, parts } from "./frames.ts";
import { history } from "./history.ts";
import { pieces } from "./pieces.ts";
import { FORMAT_FIELD, read } from "./read.ts";
import { ResponsesVoice } from "./voice.ts";

/** `POST /v1/responses`. */
export const responses: Wire = {
  name: "responses",
  path: "/responses",
  read,
  pieces,
  history,
  capField: "max_output_tokens",
  formatField: FORMAT_FIELD,
  alarm: null,
  frame: (event, data) => frames()(event, data),
  frames,
  parts,
  compose,
  voice: (ask, id = "lastword") => new ResponsesVoice(ask, id),
  error: errorObject,
  // A delta would have to name an item, and none may have begun.
  heartbeat: () => ": keep-alive\n",
};
