import { describe, expect, it } from "vitest";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { type Script, startUpstream, status } from "../support/upstream.ts";
import { overflow } from "../support/upstream-overflow.ts";
import { reply } from "../support/upstream-script.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };

/** Every form in which servers are known to say that a prompt does not fit. */
const forms: [string, DialectName, Script][] = [
  ["B2: LM Studio D", "lmstudio", overflow.lmstudio.D(31_430, 30_000)],
  ["LM Studio A", "lmstudio", overflow.lmstudio.A(9000, 8192)],
  ["B4: LM Studio B, a bare string", "lmstudio", overflow.lmstudio.B(9000, 8192)],
  ["B4: LM Studio C, a bare string", "lmstudio", overflow.lmstudio.C(9000, 8192)],
  ["llama-server", "llamacpp", overflow.llamacpp.refused(9000, 8192)],
  ["B3: llama-server, in the stream", "llamacpp", overflow.llamacpp.inStream(24_071, 8192)],
  ["B3: llama-server, as a line of its own", "llamacpp", overflow.llamacpp.errorLine(24_071, 8192)],
  ["vLLM", "vllm", overflow.vllm.new(9000, 8192, 100)],
  ["vLLM, older", "vllm", overflow.vllm.old(9000, 8192, 100)],
  ["vLLM, in characters", "vllm", overflow.vllm.chars(90_000, 8192, 100)],
  ["vLLM, passed", "vllm", overflow.vllm.passed(9000, 8192, 100)],
  ["vLLM, input length", "vllm", overflow.vllm.inputLength(9000, 8192)],
  ["vLLM, decoder", "vllm", overflow.vllm.decoder(9000, 8192)],
  ["B9: vLLM, a negative cap", "vllm", overflow.vllm.negative(344)],
  ["OpenRouter", "openrouter", overflow.openrouter.own(9000, 8192, 100)],
  [
    "OpenRouter, wrapped",
    "openrouter",
    overflow.openrouter.wrapped({ error: { message: "prompt is too long: 9000 tokens > 8192 maximum" } }),
  ],
  ["OpenAI", "openai", overflow.openai.chat(9000, 8192)],
  ["OpenAI, with functions", "openai", overflow.openai.functions(9000, 8192, 100)],
  ["OpenAI, configured limit", "openai", overflow.openai.configured(9000, 8192)],
  ["Ollama, native", "ollama", overflow.ollama.native()],
  ["Ollama, cloud", "ollama", overflow.ollama.cloud(300)],
  ["Anthropic", "generic", overflow.anthropic.prompt(9000, 8192)],
  ["Gemini, in an array", "generic", overflow.gemini(9000, 8192)],
  ["Groq", "generic", overflow.groq.chat()],
  ["Mistral", "generic", overflow.mistral(9000, 8192)],
];

describe("an overflow that only the server sees", () => {
  it.each(forms)(
    "%s is the same typed 400, streamed and plain, and is not repeated",
    async (_name, dialect, script) => {
      await using up = await startUpstream({ dialect, window: null });
      await using proxy = await startProxy(up);
      up.handle(() => script);
      const streamed = await postStream(`${proxy.url}/chat/completions`, ask);
      expect(streamed.status).toBe(400);
      const told = JSON.parse(streamed.bytes.toString()) as object;
      expect(told).toMatchObject({ error: { type: "invalid_request_error", code: "context_length_exceeded" } });
      expect(streamed.bytes.toString()).toMatch(/maximum context length/);
      const asked = up.calls.length;
      expect(asked).toBeLessThanOrEqual(1);
      // A line of its own is a form of streams alone.
      if (script[0]?.act === "raw") return;
      const plain = await postPlain(`${proxy.url}/chat/completions`, ask);
      expect(plain.status).toBe(400);
      expect(plain.json).toMatchObject({ error: { code: "context_length_exceeded" } });
      expect(proxy.events.filter((event) => event.type === "finished").map((event) => event.outcome)).toEqual([
        "rejected",
        "rejected",
      ]);
    },
  );

  it("B2: its numbers are told, and the next request is judged by them", async () => {
    await using up = await startUpstream({ dialect: "lmstudio", window: 131_072 });
    await using proxy = await startProxy(up);
    up.next(...overflow.lmstudio.D(31_430, 30_000));
    const first = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(first.bytes.toString()).toMatch(/30000.*31430|31430.*30000/);
    up.next(...reply("ok"));
    const second = await postPlain(`${proxy.url}/chat/completions`, ask);
    expect(second.headers["x-lastword-window"]).toBe("30000");
    expect(second.headers["x-lastword-window-source"]).toBe("error");
  });

  it("B6: a window that cannot be is not believed", async () => {
    await using up = await startUpstream({ dialect: "vllm", window: 2048 });
    await using proxy = await startProxy(up);
    const message =
      "This model's maximum context length is 3 tokens. However, you requested 2045 output tokens and your prompt contains at least 8 input tokens, for a total of at least 2053 tokens.";
    up.next(status(400, { error: { message, type: "BadRequestError", code: 400 } }));
    const first = await postPlain(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 2000 });
    expect(first.bytes.toString()).not.toMatch(/length is 3 tokens/);
    up.next(...reply("ok"));
    const second = await postPlain(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 500 });
    expect(second.status).toBe(200);
    expect(second.headers["x-lastword-window"]).toBe("2048");
    expect(up.calls.at(-1)?.body).toMatchObject({ max_tokens: 500 });
  });
});
