/** `error`: something does not work, and `check` exits with 1. `warning`: it works, but less well than it could. */
type Level = "error" | "warning";

/** Every finding, in the order of the work: configuration, address, reach, keys, models, ways of continuing, probe. */
const FINDINGS = {
  config: "error",
  port_taken: "error",
  address_refused: "error",
  address_exposed: "error",
  upstream_is_lastword: "error",
  upstream_refused: "error",
  upstream_unknown_host: "error",
  upstream_certificate: "error",
  upstream_not_tls: "error",
  upstream_behind_proxy: "error",
  upstream_unreachable: "error",
  upstream_silent: "error",
  upstream_redirects: "error",
  upstream_wrong_path: "error",
  upstream_loading: "error",
  upstream_failing: "error",
  key_missing: "error",
  key_refused: "error",
  dialect_differs: "warning",
  clock_skew: "warning",
  no_models: "error",
  none_loaded: "warning",
  model_not_listed: "warning",
  upstream_unused: "warning",
  window_unknown: "warning",
  window_small: "warning",
  window_not_loaded: "error",
  template_closes: "warning",
  probe_failed: "error",
} as const satisfies Readonly<Record<string, Level>>;

export type FindingCode = keyof typeof FINDINGS;

/** One thing that is wrong, its cause, and the one thing to do about it. */
export interface Finding {
  readonly level: Level;
  readonly code: FindingCode;
  /** Upstream, model, or place in the configuration. */
  readonly about: string;
  /** The cause: whole sentences. Names and numbers, never content or keys. */
  readonly says: string;
  /** A command, a flag, or a line of the config file, to be pasted as it is. What stands in capitals is for the reader to fill in. */
  readonly fix: string;
}

export function finding(code: FindingCode, about: string, says: string, fix: string): Finding {
  return { level: FINDINGS[code], code, about, says, fix };
}
