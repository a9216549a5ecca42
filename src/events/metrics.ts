import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObject,
  Registry,
} from "prom-client";
import { ERRORS } from "../core/error.ts";
import type { Event } from "./event.ts";
import type { ModelLabel } from "./names.ts";

export interface Metrics {
  event(event: Event): void;
  /** The Prometheus text format. */
  text(): Promise<string>;
  /** The same as data, for the metrics of several processes to be told as one. */
  parts(): Promise<unknown>;
  readonly contentType: string;
}

// Upper bounds of histogram buckets.
const TOKENS = [64, 256, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144, 1_048_576];
const RATIOS = [0.5, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.2, 1.5, 2];
const OVERHEAD_SECONDS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];
const SEAM_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createMetrics(options: { readonly version: string; readonly label: ModelLabel }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Sums(`lastword_${name}`, help, labelNames, registry);
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[]) =>
    new Histogram({ name: `lastword_${name}`, help, buckets, labelNames, registers });

  const requests = counter("requests_total", "Requests to healed paths, by how they ended.", [
    "wire",
    "model",
    "outcome",
  ]);
  const cuts = counter("cuts_total", "Passes that were cut, by cause.", ["model", "cause"]);
  const attempts = counter("attempts_total", "Calls to upstreams, by their end.", ["model", "strategy", "result"]);
  const clamped = counter("clamped_total", "Requests whose cap was lowered before they were sent.", ["model"]);
  const rejected = counter("rejected_total", "Requests refused before they were sent, by code.", ["model", "reason"]);
  const tokens = counter("tokens_total", "Tokens delivered (prompt, completion) and billed.", ["model", "kind"]);
  const promptTokens = histogram("prompt_tokens", "Prompt tokens per request.", TOKENS, ["model"]);
  const countError = histogram("count_error_ratio", "Estimated over reported prompt tokens.", RATIOS, ["model"]);
  const overhead = histogram("overhead_seconds", "From the whole request read to its dispatch.", OVERHEAD_SECONDS, []);
  const seams = histogram("seam_seconds", "Gap that a client sees where two passes join.", SEAM_SECONDS, []);
  const open = new Set<string>();
  new Gauge({
    name: "lastword_inflight",
    help: "Requests to healed paths under way.",
    registers,
    collect() {
      this.set(open.size);
    },
  });
  const labelNames = ["version", "node"];
  const build = new Gauge({
    name: "lastword_build_info",
    help: "Always 1; its labels say what runs.",
    labelNames,
    aggregator: "first",
    registers,
  });
  build.set({ version: options.version, node: process.version }, 1);
  collectDefaultMetrics({ register: registry });

  function event(event: Event): void {
    switch (event.type) {
      case "received":
        open.add(event.id);
        return;
      case "planned":
        overhead.observe(event.overheadSeconds);
        if (event.capAsked !== null && event.capSent !== null && event.capSent < event.capAsked) {
          clamped.add(1, options.label(event.model));
        }
        return;
      case "attempt_ended": {
        const model = options.label(event.model);
        attempts.add(1, model, event.facts.strategy, event.facts.result);
        if (event.cause !== null) cuts.add(1, model, event.cause);
        return;
      }
      case "seam":
        seams.observe(event.seconds);
        return;
      case "finished":
        // A request that was turned away at the door was never received.
        open.delete(event.id);
        finished(event, options.label(event.model));
        return;
      case "attempt_started":
      case "first_output":
      case "warned":
      case "learned":
      case "upstream_state":
      case "config":
        return;
      default:
        event satisfies never;
    }
  }

  function finished(event: Finished, model: string): void {
    requests.add(1, event.wire, model, event.outcome);
    if (event.outcome === "rejected") rejected.add(1, model, reason(event.code));
    tokens.add(event.promptTokens ?? 0, model, "prompt");
    tokens.add(event.completionTokens ?? 0, model, "completion");
    tokens.add(event.billedPromptTokens, model, "billed_prompt");
    tokens.add(event.billedCompletionTokens, model, "billed_completion");
    // A ceiling is an upper bound: it says nothing of the prompt's size.
    const estimated = event.countMethod === "ceiling" ? null : event.promptTokensEstimated;
    const prompt = event.promptTokens ?? estimated;
    if (prompt !== null) promptTokens.observe({ model }, prompt);
    if (estimated !== null && event.promptTokens) countError.observe({ model }, estimated / event.promptTokens);
  }

  return {
    event,
    text: () => registry.metrics(),
    parts: () => registry.getMetricsAsJSON(),
    contentType: registry.contentType,
  };
}

/** A counter by labels, told to the library when somebody looks: its own table of labels would cost several times as much each time. */
class Sums {
  readonly #sums = new Map<string, number>();

  constructor(name: string, help: string, labelNames: readonly string[], registry: Registry) {
    const sums = this.#sums;
    new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const [key, sum] of sums) {
          const labels = key.split("\n");
          this.inc(Object.fromEntries(labelNames.map((label, i) => [label, labels[i] ?? ""])), sum);
        }
      },
    });
  }

  /** @param labels in the order of their names; none holds a line end */
  add(by: number, ...labels: readonly string[]): void {
    const key = labels.join("\n");
    this.#sums.set(key, (this.#sums.get(key) ?? 0) + by);
  }
}

/** The metrics of several processes as one text: counters and gauges are added. @param parts what each one's `parts` gave */
export function mergedText(parts: readonly unknown[]): Promise<string> {
  return AggregatorRegistry.aggregate(parts as MetricObject[][]).metrics();
}

type Finished = Extract<Event, { readonly type: "finished" }>;

/** Our own codes only: an upstream's could be anything. */
function reason(code: string | null): string {
  return code !== null && Object.hasOwn(ERRORS, code) ? code : "other";
}
