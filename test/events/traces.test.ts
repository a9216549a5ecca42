import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createTraces } from "../../src/events/traces.ts";
import { postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { startUpstream } from "../support/upstream.ts";
import { recite } from "../support/upstream-recite.ts";
import { attempt, finished } from "./samples.ts";

interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code: number };
  readonly attributes: Record<string, unknown>;
  readonly events: readonly { readonly name: string; readonly attributes: Record<string, unknown> }[];
}

/** A collector on loopback that takes OTLP over HTTP, as JSON. */
async function startCollector(status = 200) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      if (request.url === "/v1/traces") bodies.push(body);
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => bodies.join("\n"),
    resource: () => plain(JSON.parse(bodies[0] ?? "{}").resourceSpans[0].resource.attributes),
    spans: () => bodies.flatMap(spansOf),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function spansOf(body: string): Span[] {
  const { resourceSpans } = JSON.parse(body);
  const spans = resourceSpans.flatMap((one: { scopeSpans: { spans: Span[] }[] }) =>
    one.scopeSpans.flatMap(({ spans }) => spans),
  );
  return spans.map((span: Span) => ({
    ...span,
    attributes: plain(span.attributes),
    events: span.events.map((event) => ({ ...event, attributes: plain(event.attributes) })),
  }));
}

/** OTLP's `{key, value: {stringValue}}` as a plain object. */
function plain(attributes: unknown): Record<string, unknown> {
  const list = attributes as { key: string; value: Record<string, unknown> }[];
  return Object.fromEntries(list.map(({ key, value }) => [key, unwrapped(value)]));
}

function unwrapped(value: Record<string, unknown>): unknown {
  const [kind, inner] = Object.entries(value)[0] ?? [];
  if (kind === "arrayValue") return (inner as { values: Record<string, unknown>[] }).values.map(unwrapped);
  return inner;
}

const CLIENT = 3;
const ERROR = 2;
const options = { version: "1.2.3", provider: () => "llamacpp", onFault: () => undefined };

afterEach(() => void vi.unstubAllEnvs());

describe("traces", () => {
  test("a healed request is one span by the GenAI conventions, with one below it per attempt", async () => {
    await using collector = await startCollector();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
    vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=lab");
    const traces = createTraces(options);
    const of = { id: "lw-1", model: "qwen" };
    traces.event({ type: "received", ...of, wire: "chat", stream: true, upstream: "local" });
    traces.event({
      type: "planned",
      ...of,
      window: 4096,
      windowSource: "loaded",
      promptTokens: 100,
      countMethod: "estimate;bound=5",
      capAsked: 64,
      capSent: 64,
      capReason: "none",
      overheadSeconds: 0.001,
    });
    traces.event({ type: "attempt_started", ...of, attempt: 1, strategy: "first", cap: 64, upstream: "local" });
    traces.event({ type: "first_output", ...of, ms: 3 });
    traces.event({ type: "attempt_ended", ...of, attempt: 1, facts: attempt(), cause: "reply_cap" });
    traces.event({ type: "attempt_started", ...of, attempt: 2, strategy: "prefill", cap: 4096, upstream: "local" });
    traces.event({ type: "seam", ...of, seconds: 0.2, overlap: 3, dropped: 1 });
    const whole = attempt({ strategy: "prefill", result: "whole", finish_reason: "stop", cap: 4096 });
    traces.event({ type: "attempt_ended", ...of, attempt: 2, facts: whole, cause: null });
    traces.event(finished({ ...of, outcome: "healed", cause: "reply_cap", attempts: 2 }));
    await traces.close();

    const [first, second, request, ...more] = collector.spans();
    expect(more).toEqual([]);
    expect(request).toMatchObject({
      name: "chat qwen",
      kind: CLIENT,
      status: { code: 0 },
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "llamacpp",
        "gen_ai.request.model": "qwen",
        "gen_ai.request.max_tokens": 64,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 80,
        "gen_ai.usage.output_tokens": 20,
        "lastword.outcome": "healed",
        "lastword.cause": "reply_cap",
        "lastword.attempts": 2,
        "lastword.window": 4096,
      },
    });
    expect(request?.events.map(({ name }) => name)).toEqual(["lastword.first_output", "lastword.seam"]);
    expect([first, second]).toMatchObject([
      { name: "attempt first", attributes: { "lastword.attempt.result": "cut", "lastword.cause": "reply_cap" } },
      { name: "attempt prefill", attributes: { "lastword.attempt.cap": 4096, "lastword.attempt.result": "whole" } },
    ]);
    for (const span of [first, second]) {
      expect([span?.parentSpanId, span?.traceId]).toEqual([request?.spanId, request?.traceId]);
      // Backends add up usage over spans: it stands on the request alone.
      expect(Object.keys(span?.attributes ?? {}).filter((name) => name.startsWith("gen_ai"))).toEqual([]);
    }
    expect(collector.resource()).toMatchObject({
      "service.name": "lastword",
      "service.version": "1.2.3",
      "deployment.environment.name": "lab",
    });
  });

  test("one that was turned away has a span of its own, marked as an error with its code", async () => {
    await using collector = await startCollector();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
    const traces = createTraces(options);
    traces.event(finished({ wire: "completions", model: "", outcome: "rejected", code: "unauthorized", attempts: 0 }));
    await traces.close();
    expect(collector.spans()).toMatchObject([
      { name: "text_completion unknown", status: { code: ERROR }, attributes: { "error.type": "unauthorized" } },
    ]);
  });

  test("a collector that refuses is told of, and costs nothing but the traces", async () => {
    await using collector = await startCollector(400);
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
    const faults: unknown[] = [];
    const traces = createTraces({ ...options, onFault: (error) => faults.push(error) });
    traces.event(finished());
    await traces.close();
    expect(faults).toHaveLength(1);
  });

  test("of a real request, nothing of prompt, reply or key is in them; without the variable there are none", async () => {
    await using collector = await startCollector();
    await using up = await startUpstream({ dialect: "llamacpp" });
    up.handle(
      recite("A secret reply that is longer than the cap it was given, and therefore has to be made whole. ".repeat(4)),
    );
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
    const ask = { model: "m", max_tokens: 65, messages: [{ role: "user", content: "a secret prompt" }] };
    for (const tracing of [false, true]) {
      const proxy = await startProxy(up, { listen: { keys: ["T-secret"] }, tracing });
      const through = await postStream(`${proxy.url}/chat/completions`, ask, { authorization: "Bearer T-secret" });
      expect(through.finish()).toBe("stop");
      await proxy.finished();
      await proxy.close();
      expect(collector.spans().map(({ name }) => name)).toEqual(
        tracing ? ["attempt first", "attempt prefill", "chat m"] : [],
      );
    }
    expect(collector.text()).not.toContain("secret");
  });
});
