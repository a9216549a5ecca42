import type { JsonObject } from "../../core/json.ts";
import type { Block } from "../../core/reply.ts";
import type { Seam } from "../../stitch/seam.ts";
import type { Compose } from "../../wire/wire.ts";
import type { Ears } from "../ears.ts";

/** What a strategy makes of a pass: how its request differs from the client's own, and how its beginning joins the reply. */
export interface Join {
  readonly how: Compose["how"];
  readonly partial: Compose["partial"];
  readonly nudge: string;
  readonly mark: JsonObject;
  readonly set: JsonObject;
  readonly without: readonly string[];
  /** The joint with what is known; null: nothing was there to join. */
  readonly seam: Seam | null;
  /** What is gone on with. */
  readonly channel: "text" | "reasoning" | "call";
  /** What the pass's text stands for; null: it is text. */
  readonly ears: Ears | null;
  /** The calls of the turn so far, the last of which is carried on. */
  readonly calls: readonly Block[];
  /** The server is believed, not known, to resume: a restart proves that it does not. */
  readonly unproven: boolean;
  /** Where the request goes; null: to the wire's own path. */
  readonly path: string | null;
  /** The rendered prompt and the signs to be written out, for the completion endpoint; null: the client's own wire. */
  readonly raw: { readonly prompt: string; readonly signs: readonly string[] } | null;
}

export const AS_ASKED: Join = {
  how: "asked",
  partial: null,
  nudge: "",
  mark: {},
  set: {},
  without: [],
  seam: null,
  channel: "text",
  ears: null,
  calls: [],
  unproven: false,
  path: null,
  raw: null,
};
