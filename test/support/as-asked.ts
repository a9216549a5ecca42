import type { Compose } from "../../src/wire/wire.ts";

/** A pass that changes nothing, for tests to vary. */
export const AS_ASKED: Compose = {
  cap: null,
  thinkingBudget: null,
  how: "asked",
  partial: null,
  nudge: "",
  mark: {},
  set: {},
  without: [],
};
