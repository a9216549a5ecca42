import { describe, expect, it } from "vitest";
import type { WireName } from "../../src/core/ask.ts";
import type { Outcome } from "../../src/core/cut.ts";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";
import { wires } from "../../src/wire/index.ts";
import { type Plain, postPlain, postStream, type Streamed, startStream } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import { recite, type Script, say, stall, startUpstream, status, type Upstream } from "../support/upstream.ts";

const WINDOW = 4096;
const TEXT = "The lamp stands on the window sill, behind the blue curtain, next to the kettle. ".repeat(8);

/** What differs between wires, and nothing else. */
interface Shape {
  readonly ask: (words: string) => JsonObject;
  readonly cap: string;
  readonly whole: string;
  readonly cut: string;
  readonly text: (body: JsonObject) => unknown;
  readonly finish: (body: JsonObject) => unknown;
  /** How clients know an overflow by its message. */
  readonly overflow: RegExp;
  readonly overCap: RegExp;
}

const choice = (body: JsonObject) => asObject(asArray(body.choices)[0]) ?? {};
const message = (words: string) => [{ role: "user", content: words }];
const openai = {
  overflow: /^This model's maximum context length is 4096 tokens\. However, your messages resulted in \d+ tokens/,
  overCap: /^This model's maximum context length is 4096 tokens\. However, you requested \d+ tokens/,
};

/** Every wire has a row: one that is added without is an error here. */
const SHAPES: Record<WireName, Shape> = {
  chat: {
    ask: (words) => ({ messages: message(words) }),
    cap: "max_tokens",
    whole: "stop",
    cut: "length",
    text: (body) => asObject(choice(body).message)?.content,
    finish: (body) => choice(body).finish_reason,
    ...openai,
  },
  completions: {
    ask: (words) => ({ prompt: words }),
    cap: "max_tokens",
    whole: "stop",
    cut: "length",
    text: (body) => choice(body).text,
    finish: (body) => choice(body).finish_reason,
    ...openai,
  },
  responses: {
    ask: (words) => ({ input: words }),
    cap: "max_output_tokens",
    whole: "completed",
    cut: "incomplete",
    text: (body) => asObject(asArray(asObject(asArray(body.output)[0])?.content)[0])?.text,
    finish: (body) => body.status,
    ...openai,
  },
  messages: {
    ask: (words) => ({ messages: message(words) }),
    cap: "max_tokens",
    whole: "end_turn",
    cut: "max_tokens",
    text: (body) => asObject(asArray(body.content)[0])?.text,
    finish: (body) => body.stop_reason,
    overflow: /^prompt is too long: \d+ tokens > 4096 maximum/,
    overCap: /^input length and `max_tokens` exceed context limit: \d+ \+ \d+ > 4096/,
  },
};

/** One wire, with a scripted server behind the proxy. */
interface Case extends Shape {
  readonly wire: WireName;
  readonly up: Upstream;
  readonly proxy: Lastword;
  readonly plain: (words: string, cap: unknown, headers?: Record<string, string>) => Promise<Plain>;
  readonly stream: (words: string, cap: unknown, headers?: Record<string, string>) => Promise<Streamed>;
  readonly error: (plain: Plain) => JsonObject;
}

/** The caps of completions are meant unless the client says otherwise; here all are asked alike. */
const ADVISORY = { "x-lastword-caps": "advisory" };

/** What must hold on every wire, and how the request then counts. */
interface Row {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
  readonly options?: ProxyOptions;
  readonly run: (of: Case) => Promise<void>;
}

const ROWS: readonly Row[] = [
  {
    name: "a cut at an advisory cap is healed",
    outcomes: ["healed", "healed"],
    async run({ stream, plain, text, finish, whole }) {
      const streamed = await stream("recite", 80);
      expect([streamed.text(), streamed.finish()]).toEqual([TEXT, whole]);
      const { json = {}, headers } = await plain("recite", 80);
      expect([text(json), finish(json)]).toEqual([TEXT, whole]);
      expect(headers).toMatchObject({ "x-lastword-outcome": "healed", "x-lastword-cause": "reply_cap" });
    },
  },
  {
    name: "a strict cap is kept",
    outcomes: ["cut_off", "cut_off"],
    async run({ stream, plain, finish, cut, up }) {
      const streamed = await stream("recite", 80, { "x-lastword-caps": "strict" });
      expect(TEXT.startsWith(streamed.text())).toBe(true);
      expect(streamed.finish()).toBe(cut);
      expect(finish((await plain("recite", 80, { "x-lastword-caps": "strict" })).json ?? {})).toBe(cut);
      expect(up.calls).toHaveLength(2);
    },
  },
  {
    name: "a tiny cap is kept",
    outcomes: ["cut_off"],
    async run({ plain, finish, cut, up }) {
      const { json = {}, headers } = await plain("recite", 9);
      expect(finish(json)).toBe(cut);
      expect(headers).toMatchObject({ "x-lastword-outcome": "cut_off", "x-lastword-cause": "honoured_cap" });
      expect(asObject(json.lastword)).toEqual({ outcome: "cut_off", cause: "honoured_cap", code: null, warnings: [] });
      expect(up.calls).toHaveLength(1);
    },
  },
  {
    name: "a cap above the room is lowered in the client's own field",
    outcomes: ["complete"],
    async run({ plain, up, cap, proxy }) {
      const { headers } = await plain("recite", 32_000);
      const [call] = up.calls;
      const sent = Number(call?.body[cap]);
      expect(sent).toBeGreaterThan(WINDOW / 2);
      expect(sent).toBeLessThan(WINDOW);
      const caps = ["max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict"];
      expect(Object.keys(call?.body ?? {}).filter((field) => caps.includes(field))).toEqual([cap]);
      expect(headers).toMatchObject({
        "x-lastword-cap": `asked=32000;sent=${sent};reason=room`,
        "x-lastword-window": String(WINDOW),
        "x-lastword-window-source": "loaded",
      });
      expect(await proxy.services.metrics.text()).toMatch(/lastword_clamped_total\{model="m"\} 1/);
    },
  },
  {
    name: "a prompt over the window is rejected before the upstream is touched",
    outcomes: ["rejected"],
    async run({ plain, up, proxy, error, overflow }) {
      const got = await plain("word ".repeat(5000), 100);
      expect(got.status).toBe(400);
      expect(error(got)).toMatchObject({
        type: "invalid_request_error",
        code: "context_length_exceeded",
        lastword: { window: WINDOW, window_source: "loaded" },
      });
      expect(error(got).message).toMatch(overflow);
      expect(up.calls).toHaveLength(0);
      const metrics = await proxy.services.metrics.text();
      expect(metrics).toMatch(/lastword_rejected_total\{model="m",reason="context_length_exceeded"\} 1/);
    },
  },
  {
    name: "a cap that leaves too little room is blamed for it",
    outcomes: ["rejected"],
    options: { budget: { minReplyTokens: 600 } },
    async run({ plain, up, error, overCap }) {
      const got = await plain("word ".repeat(3600), 1000);
      expect(got.status).toBe(400);
      expect(error(got).message).toMatch(overCap);
      expect(up.calls).toHaveLength(0);
    },
  },
  {
    name: "an overflow that only the upstream sees is the same typed error",
    outcomes: ["rejected"],
    async run({ plain, up, error }) {
      const message = "request (24071 tokens) exceeds the available context size (4096 tokens)";
      const detail = { code: 400, type: "exceed_context_size_error", message, n_prompt_tokens: 24_071, n_ctx: WINDOW };
      up.handle(() => [status(400, { error: detail })]);
      const got = await plain("recite", 80);
      expect(got.status).toBe(400);
      expect(error(got)).toMatchObject({ code: "context_length_exceeded" });
      expect(JSON.stringify(error(got))).toMatch(/24071.*4096|4096.*24071/);
    },
  },
  {
    name: "a cap of the wrong type is refused by its name",
    outcomes: ["rejected", "rejected", "rejected"],
    async run({ plain, up, error, cap }) {
      for (const wrong of ["4096", 0.5, true]) {
        const got = await plain("recite", wrong);
        expect(got.status).toBe(400);
        expect(error(got)).toMatchObject({ code: "invalid_request" });
        expect(error(got).message).toContain(cap);
      }
      expect(up.calls).toHaveLength(0);
    },
  },
  {
    name: "a bad header is refused by its name",
    outcomes: ["rejected"],
    async run({ plain, error }) {
      const got = await plain("recite", 80, { "x-lastword-attempts": "many" });
      expect(got.status).toBe(400);
      expect(error(got).message).toContain("x-lastword-attempts");
    },
  },
  {
    name: "what is no JSON, and what is too large, is refused in the wire's own shape",
    outcomes: ["rejected", "rejected"],
    options: { limits: { maxBodyBytes: 2000 } },
    async run({ proxy, wire, error, plain }) {
      const path = wires.find((one) => one.name === wire)?.path ?? "";
      const garbled = await postPlain(proxy.url + path, "{");
      expect([garbled.status, error(garbled).code]).toEqual([400, "invalid_request"]);
      const large = await plain("word ".repeat(500), 100);
      expect([large.status, error(large).code]).toEqual([413, "request_too_large"]);
    },
  },
  {
    name: "with healing off the reply is passed on byte for byte",
    outcomes: ["cut_off", "cut_off"],
    async run({ stream, plain, up, finish, cut, wire }) {
      const path = wires.find((one) => one.name === wire)?.path ?? "";
      const off = { "x-lastword-heal": "off" };
      const streamed = await stream("recite", 80, off);
      const ids = (bytes: Buffer) => bytes.toString().replace(/_\d+|-\d+|176000000\d/g, "#");
      const straight = await postStream(up.url + path, up.calls[0]?.body ?? {});
      expect(ids(streamed.bytes)).toBe(ids(straight.bytes));
      const { json = {} } = await plain("recite", 80, off);
      // llama-server calls cut responses completed.
      if (wire !== "responses") expect(finish(json)).toBe(cut);
      expect(json).not.toHaveProperty("lastword");
      expect(up.calls).toHaveLength(3);
    },
  },
  {
    name: "it explains itself where asked to",
    outcomes: ["healed", "healed"],
    async run({ stream, plain }) {
      const explained = {
        outcome: "healed",
        cause: "reply_cap",
        code: null,
        attempts: [{ strategy: "first" }, {}],
        window: WINDOW,
        window_source: "loaded",
        billed: { completion_tokens: expect.any(Number) },
        warnings: [],
      };
      const { json = {} } = await plain("recite", 80, { "x-lastword-explain": "1" });
      expect(json.lastword).toMatchObject(explained);
      const { chunks } = await stream("recite", 80, { "x-lastword-explain": "1" });
      const told = chunks.map((chunk) => chunk.lastword ?? asObject(chunk.response)?.lastword).filter(Boolean);
      expect(told).toHaveLength(1);
      expect(told[0]).toMatchObject(explained);
    },
  },
  {
    name: "an upstream's own error keeps its status, and is not tried again",
    outcomes: ["failed"],
    async run({ plain, up }) {
      up.handle(() => [status(401, { error: { message: "Incorrect API key", type: "x", code: "invalid_api_key" } })]);
      const got = await plain("recite", 80);
      expect(got.status).toBe(401);
      expect(got.bytes.toString()).toContain("Incorrect API key");
      expect(up.calls).toHaveLength(1);
    },
  },
  {
    name: "a client that leaves ends the upstream's work, and is counted so",
    outcomes: ["canceled"],
    async run({ up, proxy, wire, ask }) {
      up.handle(() => [say("The lamp"), stall()] satisfies Script);
      const path = wires.find((one) => one.name === wire)?.path ?? "";
      const live = startStream(proxy.url + path, { model: "m", ...ask("recite") });
      await live.until("The lamp");
      live.abort();
      expect(await (await up.call()).ended).toBe("aborted");
      await live.done;
    },
  },
];

describe("every wire is treated alike", () => {
  for (const wire of wires) {
    it.each(ROWS.map((row) => [row.name, row] as const))(`${wire.name}: %s`, async (_name, row) => {
      await using up = await startUpstream({ dialect: "llamacpp", window: WINDOW });
      await using proxy = await startProxy(up, row.options);
      up.handle(recite(TEXT));
      const shape = SHAPES[wire.name];
      const body = (words: string, cap: unknown): JsonObject =>
        ({ model: "m", ...shape.ask(words), [shape.cap]: cap }) as JsonObject;
      await row.run({
        ...shape,
        wire: wire.name,
        up,
        proxy,
        plain: (words, cap, headers) => postPlain(proxy.url + wire.path, body(words, cap), { ...ADVISORY, ...headers }),
        stream: (words, cap, headers) =>
          postStream(proxy.url + wire.path, body(words, cap), { ...ADVISORY, ...headers }),
        error: ({ json = {} }) => {
          // Messages wraps its errors once more.
          expect(json.type).toBe(wire.name === "messages" ? "error" : undefined);
          return asObject(json.error) ?? {};
        },
      });

      await proxy.finished(row.outcomes.length);
      const ends = proxy.events.filter((event) => event.type === "finished");
      expect(ends.map((end) => end.outcome)).toEqual(row.outcomes);
      expect(ends.every((end) => end.wire === wire.name)).toBe(true);
      const metrics = await proxy.services.metrics.text();
      for (const outcome of new Set(row.outcomes)) {
        const times = row.outcomes.filter((one) => one === outcome).length;
        const line = new RegExp(
          `lastword_requests_total\\{wire="${wire.name}",model="[^"]+",outcome="${outcome}"\\} (\\d+)`,
          "g",
        );
        const counted = [...metrics.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0);
        expect(counted).toBe(times);
      }
      const tallies = proxy.services.tallies.list();
      expect(tallies.reduce((sum, tally) => sum + tally.requests, 0)).toBe(row.outcomes.length);
    });
  }
});
