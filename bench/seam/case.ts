import { type Cut, cut } from "./cuts.ts";
import { Random } from "./random.ts";
import { type Behaviour, CHAT, IGNORING, resumes } from "./servers.ts";
import { type Sample, sample } from "./texts.ts";

/** How the server is gone on with, and what is known of it. */
export const WAYS = ["prefill", "raw", "prefill, unproven", "prefill, ignored", "nudge"] as const;
export type Way = (typeof WAYS)[number];

export interface Case {
  readonly seed: number;
  readonly sample: Sample;
  readonly cut: Cut;
  /** A second cut, where there is one. */
  readonly later: number | null;
  readonly way: Way;
  readonly server: Behaviour;
  /** Behaviour of the same server when it is nudged. */
  readonly chat: Behaviour;
  /** Trailing blanks are not sent, since the server refuses or loses them. */
  readonly trims: boolean;
  /** The given text comes back in front. */
  readonly echoes: boolean;
}

export function makeCase(seed: number, way: Way): Case {
  const random = new Random(seed);
  const text = sample(random);
  const place = cut(random, text.text);
  const later =
    random.chance(0.25) && place.at + 40 < text.text.length
      ? random.between(place.at + 20, text.text.length - 1)
      : null;
  const chat = way === "nudge" ? random.pick(CHAT) : (CHAT[1] ?? resumes);
  const server = way === "nudge" ? chat : way === "prefill, ignored" ? random.pick(IGNORING) : resumes;
  return {
    seed,
    sample: text,
    cut: place,
    later,
    way,
    server,
    chat,
    trims: way === "prefill" && random.chance(0.4),
    echoes: way === "prefill" && random.chance(0.2),
  };
}
