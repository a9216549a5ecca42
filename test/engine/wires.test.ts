import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asArray, asObject, asString, type JsonObject } from "../../src/core/json.ts";
import { postPlain, postStream } from "../support/client.ts";
import { type Lastword, startProxy } from "../support/proxy.ts";
import { type Engine, present, type Recital, recitals, startEngine } from "./engine.ts";

const CAPS = [65, 97, 160, 300];
const ADVISORY = { "x-lastword-caps": "advisory" };
const texts = recitals.filter(
  (recital) => recital.content !== "" && recital.reasoning_content === undefined && recital.tool_call === undefined,
);

/** How one wire asks for a recital, where its text stands in a plain reply, and what says that it ended by itself. */
interface Way {
  readonly path: string;
  readonly ask: (recital: Recital, cap: number, engine: Engine) => Promise<JsonObject>;
  readonly text: (body: JsonObject) => string;
  readonly finish: string;
  readonly plainFinish: (body: JsonObject) => unknown;
}

const first = (list: unknown) => asObject(asArray(list)[0]) ?? {};
const firstChoice = (body: JsonObject) => first(body.choices);

const WAYS: Record<string, Way> = {
  completions: {
    path: "/completions",
    ask: async ({ messages }, max_tokens, engine) => ({ prompt: await rendered(engine, messages), max_tokens }),
    text: (body) => asString(firstChoice(body).text) ?? "",
    finish: "stop",
    plainFinish: (body) => firstChoice(body).finish_reason,
  },
  responses: {
    path: "/responses",
    ask: async ({ messages }, max_output_tokens) => ({ input: messages, max_output_tokens }),
    text: (body) => {
      const message = asArray(body.output).find((item) => asObject(item)?.type === "message");
      return asArray(asObject(message)?.content)
        .map((part) => asString(asObject(part)?.text) ?? "")
        .join("");
    },
    finish: "completed",
    plainFinish: (body) => body.status,
  },
  messages: {
    path: "/messages",
    ask: async ({ messages }, max_tokens) => ({ messages, max_tokens }),
    text: (body) =>
      asArray(body.content)
        .map((block) => asString(asObject(block)?.text) ?? "")
        .join(""),
    finish: "end_turn",
    plainFinish: (body) => body.stop_reason,
  },
};

describe.skipIf(!present)("every other wire through lastword, in front of a real llama-server", () => {
  let engine: Engine;
  let proxy: Lastword;
  beforeAll(async () => {
    engine = await startEngine(2048);
    proxy = await startProxy(engine);
  }, 60_000);
  afterAll(async () => {
    await proxy?.close();
    await engine?.[Symbol.asyncDispose]();
  });

  describe.each(Object.entries(WAYS))("%s", (_wire, way) => {
    for (const recital of texts) {
      it.each(CAPS)(`${recital.name} is whole at a cap of %i tokens, streamed and plain`, async (cap) => {
        const body = { model: "reciter", temperature: 0, ...(await way.ask(recital, cap, engine)) };
        const streamed = await postStream(proxy.url + way.path, body, ADVISORY);
        expect(streamed.text()).toBe(recital.content);
        expect(streamed.finish()).toBe(way.finish);
        const plain = await postPlain(proxy.url + way.path, body, ADVISORY);
        expect(way.text(plain.json ?? {})).toBe(recital.content);
        expect(way.plainFinish(plain.json ?? {})).toBe(way.finish);
        expect(plain.headers["x-lastword-outcome"]).toBe(recital.completion_tokens > cap ? "healed" : "complete");
      });
    }
  });
});

describe.skipIf(!present)("a reply of a real llama-server that begins with half a character", () => {
  it("is opened for the clients' own libraries", async () => {
    await using engine = await startEngine(2048);
    await using proxy = await startProxy(engine);
    const recital = recitals.find(({ name }) => name === "letters");
    const content = recital?.content ?? "";
    const given = content.slice(0, content.indexOf("Сегодня ") + "Сегодня ".length);
    const ask = { model: "reciter", temperature: 0, max_tokens: 900 };
    const messages = [...(recital?.messages ?? []), { role: "assistant", content: given }] as never;
    // As it comes from the server it is of no use to them: that is what is mended here.
    const straight = await postStream(`${engine.url}/messages`, { ...ask, messages });
    expect(straight.chunks[0]?.type).not.toBe("message_start");

    const anthropic = new Anthropic({ baseURL: proxy.root, apiKey: "none", maxRetries: 0 });
    const message = await anthropic.messages.stream({ ...ask, messages }).finalMessage();
    expect(message.content).toMatchObject([{ type: "text", text: content.slice(given.length) }]);
    const openai = new OpenAI({ baseURL: proxy.url, apiKey: "none", maxRetries: 0 });
    const completion = await openai.chat.completions.stream({ ...ask, messages }).finalChatCompletion();
    expect(completion.choices[0]?.message).toMatchObject({ role: "assistant", content: content.slice(given.length) });
  });
});

/** The prompt as the chat wire would render it. */
async function rendered(engine: Engine, messages: readonly JsonObject[]): Promise<string> {
  const root = engine.url.replace(/\/v1$/, "");
  const { json } = await postPlain(`${root}/apply-template`, { messages: [...messages] });
  return asString(json?.prompt) ?? "";
}
