import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { WireName } from "../core/ask.ts";
import type { Event } from "./event.ts";
import { shown } from "./names.ts";

export interface Traces {
  event(event: Event): void;
  /** Sends what is left; waits for the collector for `CLOSE_MS` at most. */
  close(): Promise<void>;
}

interface TracesOptions {
  readonly version: string;
  /** What kind of server an upstream is, as `gen_ai.provider.name`. */
  readonly provider: (upstream: string) => string;
  /** The collector did not take some spans. */
  readonly onFault: (error: unknown) => void;
}

/** https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ */
const OPERATIONS: Readonly<Record<WireName, string>> = {
  chat: "chat",
  completions: "text_completion",
  responses: "chat",
  messages: "chat",
};

const CLOSE_MS = 3_000;

/** A request under way: its span, and that of its attempt. */
interface Open {
  readonly span: Span;
  readonly context: Context;
  attempt: Span | null;
}

/**
 * OpenTelemetry traces by the GenAI conventions, over OTLP/HTTP: a span per request, and below it one per attempt. Where it sends
 * them, how it samples and what else they carry is said by the standard `OTEL_*` variables. Events hold no content, and so no span does.
 * Loaded only where `OTEL_EXPORTER_OTLP_ENDPOINT` is set: the libraries take a tenth of a second to load.
 */
export function createTraces({ version, provider, onFault }: TracesOptions): Traces {
  const named = resourceFromAttributes({ "service.name": "lastword", "service.version": version });
  const tracing = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(heard(new OTLPTraceExporter(), onFault))],
  });
  const tracer = tracing.getTracer("lastword", version);
  const open = new Map<string, Open>();

  function begin(id: string, model: string, wire: WireName, upstream: string, startTime: number): Open {
    const operation = OPERATIONS[wire];
    const name = shown(model);
    const attributes = {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": provider(upstream),
      "gen_ai.request.model": name,
      "lastword.request.id": id,
      "lastword.wire": wire,
      "lastword.upstream": upstream,
    };
    const span = tracer.startSpan(
      `${operation} ${name}`,
      { kind: SpanKind.CLIENT, startTime, attributes },
      ROOT_CONTEXT,
    );
    return { span, context: trace.setSpan(ROOT_CONTEXT, span), attempt: null };
  }

  function event(event: Event): void {
    switch (event.type) {
      case "received":
        open.set(event.id, begin(event.id, event.model, event.wire, event.upstream, Date.now()));
        open.get(event.id)?.span.setAttribute("lastword.stream", event.stream);
        return;
      case "planned":
        open.get(event.id)?.span.setAttributes(
          known({
            "gen_ai.request.max_tokens": event.capAsked,
            "lastword.window": event.window,
            "lastword.window.source": event.windowSource,
            "lastword.prompt.estimated_tokens": event.promptTokens,
            "lastword.prompt.count_method": event.countMethod,
            "lastword.cap.sent": event.capSent,
            "lastword.cap.reason": event.capReason,
            "lastword.overhead_seconds": event.overheadSeconds,
          }),
        );
        return;
      case "attempt_started": {
        const request = open.get(event.id);
        if (request === undefined) return;
        const attributes = known({
          "lastword.attempt.number": event.attempt,
          "lastword.attempt.strategy": event.strategy,
          "lastword.attempt.cap": event.cap,
          "lastword.upstream": event.upstream,
        });
        const kind = SpanKind.CLIENT;
        request.attempt = tracer.startSpan(`attempt ${event.strategy}`, { kind, attributes }, request.context);
        return;
      }
      case "attempt_ended": {
        const request = open.get(event.id);
        if (request?.attempt == null) return;
        endAttempt(request.attempt, event);
        request.attempt = null;
        if (event.facts.finish_reason !== null)
          request.span.setAttribute("gen_ai.response.finish_reasons", [shown(event.facts.finish_reason)]);
        return;
      }
      case "first_output":
        open.get(event.id)?.span.addEvent("lastword.first_output");
        return;
      case "seam": {
        const { seconds, overlap, dropped } = event;
        const attributes = {
          "lastword.seam.seconds": seconds,
          "lastword.seam.overlap": overlap,
          "lastword.seam.dropped": dropped,
        };
        open.get(event.id)?.span.addEvent("lastword.seam", attributes);
        return;
      }
      case "warned":
        open.get(event.id)?.span.addEvent("lastword.warning", { "lastword.warning": event.warning });
        return;
      case "finished": {
        const { id, model, wire, upstream, ms } = event;
        // One that was turned away at the door was never received.
        const { span } = open.get(id) ?? begin(id, model, wire, upstream, Date.now() - ms);
        open.delete(id);
        finish(span, event);
        return;
      }
      case "learned":
      case "upstream_state":
      case "config":
        return;
      default:
        event satisfies never;
    }
  }

  return {
    event,
    // What went wrong has been told by the exporter.
    close: () =>
      within(
        CLOSE_MS,
        tracing.shutdown().catch(() => undefined),
      ),
  };
}

function endAttempt(span: Span, { facts, cause }: Extract<Event, { readonly type: "attempt_ended" }>): void {
  const { result, finish_reason, prompt_tokens, completion_tokens, bytes } = facts;
  span.setAttributes(
    known({
      "lastword.attempt.result": result,
      "lastword.attempt.finish_reason": finish_reason === null ? null : shown(finish_reason),
      "lastword.attempt.prompt_tokens": prompt_tokens,
      "lastword.attempt.completion_tokens": completion_tokens,
      "lastword.attempt.bytes": bytes,
      "lastword.cause": cause,
    }),
  );
  if (result === "broken" || result === "refused") span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function finish(span: Span, event: Extract<Event, { readonly type: "finished" }>): void {
  const { outcome, cause, code, promptTokens, completionTokens, attempts } = event;
  span.setAttributes(
    known({
      "gen_ai.usage.input_tokens": promptTokens,
      "gen_ai.usage.output_tokens": completionTokens,
      "lastword.outcome": outcome,
      "lastword.cause": cause,
      "lastword.attempts": attempts,
      "lastword.billed.input_tokens": event.billedPromptTokens,
      "lastword.billed.output_tokens": event.billedCompletionTokens,
      "error.type": code === null ? null : shown(code),
    }),
  );
  if (outcome === "failed" || outcome === "rejected") span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Attributes without those that nobody knows. */
function known(attributes: Readonly<Record<string, string | number | boolean | null>>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null)) as Attributes;
}

/** The exporter, telling of what did not arrive: by itself it is silent. */
function heard(exporter: SpanExporter, onFault: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onFault(result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

function within(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(resolve, ms);
    void work.finally(() => {
      clearTimeout(late);
      resolve();
    });
  });
}
