import OpenAI from "openai";
import { LengthFinishReasonError } from "openai/error";
import { zodFunction, zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { asArray, asObject } from "../../src/core/json.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import { nudges, recite, startUpstream, type Upstream } from "../support/upstream.ts";

const Note = z.object({ path: z.string(), content: z.string() });
const NOTE = {
  path: "lamps.md",
  content: Array.from({ length: 40 }, (_, at) => `Lamp ${at} holds ${at * 7} hours of oil.\n`).join(""),
};
const Inventory = z.object({ place: z.string(), lamps: z.array(z.object({ id: z.number(), oil: z.string() })) });
const INVENTORY = {
  place: "the workshop",
  lamps: Array.from({ length: 40 }, (_, id) => ({ id, oil: `${id * 3} hours and a little` })),
};
const CAP = 90;
const SAVED = "The note is saved.";

/** The official client's helpers parse, validate and call: they raise on whatever is cut. */
describe("the openai client's helpers, on replies that were cut", () => {
  let up: Upstream;
  let proxy: Lastword;
  let client: OpenAI;
  const start = async (options: ProxyOptions = {}) => {
    up = await startUpstream({ dialect: "openai", window: 32_768 });
    proxy = await startProxy(up, options);
    client = new OpenAI({ baseURL: proxy.url, apiKey: "none", maxRetries: 0 });
  };
  afterEach(async () => {
    await proxy.close();
    await up.close();
  });

  describe("tools", () => {
    const saved: unknown[] = [];
    const save = () =>
      zodFunction({
        name: "save_note",
        parameters: Note,
        function: (note) => {
          saved.push(note);
          return "ok";
        },
      });
    const body = { model: "gpt-4o", max_tokens: CAP, messages: [{ role: "user" as const, content: "Save the note." }] };
    /** One call, then a word on its result. */
    const agent = (providerCap?: number) =>
      recite(
        (call) =>
          asArray(call.body.messages).some((message) => asObject(message)?.role === "tool")
            ? SAVED
            : { tools: [{ name: "save_note", args: NOTE }] },
        { nudge: nudges.anchor, ...(providerCap === undefined ? {} : { providerCap }) },
      );
    beforeEach(() => {
      saved.length = 0;
    });

    it("runTools, plain and streamed", async () => {
      await start();
      up.handle(agent());
      const runner = client.chat.completions.runTools({ ...body, tools: [save()] });
      expect(await runner.finalContent()).toBe(SAVED);
      const streaming = client.chat.completions.runTools({ ...body, tools: [save()], stream: true });
      expect(await streaming.finalContent()).toBe(SAVED);
      expect(saved).toEqual([NOTE, NOTE]);
    });

    it("runTools, where the provider can never write the call in one piece", async () => {
      await start();
      up.handle(agent(160));
      expect(await client.chat.completions.runTools({ ...body, tools: [save()] }).finalContent()).toBe(SAVED);
      const streaming = client.chat.completions.runTools({ ...body, tools: [save()], stream: true });
      expect(await streaming.finalContent()).toBe(SAVED);
      expect(saved).toEqual([NOTE, NOTE]);
    });

    it("parse gives the call's parsed arguments", async () => {
      await start();
      up.handle(agent());
      const { choices } = await client.chat.completions.parse({ ...body, tools: [save()] });
      expect(choices[0]?.finish_reason).toBe("tool_calls");
      expect(choices[0]?.message.tool_calls?.[0]?.function.parsed_arguments).toEqual(NOTE);
    });

    it("an agent behind a cut that cannot be mended is never called with half a note", async () => {
      await start({ recovery: { maxAttempts: 1 } });
      up.handle(agent(80));
      const cut = client.chat.completions.runTools({ ...body, tools: [save()] });
      await expect(cut.finalChatCompletion()).rejects.toThrow(LengthFinishReasonError);
      expect(saved).toEqual([]);
    });

    it("with onExhausted: error it is one typed error, and not tried again by the client", async () => {
      await start({ recovery: { maxAttempts: 1, onExhausted: "error" } });
      up.handle(agent(80));
      const eager = new OpenAI({ baseURL: proxy.url, apiKey: "none", maxRetries: 3 });
      const failed = await eager.chat.completions.create({ ...body, tools: [save()] }).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(OpenAI.APIError);
      expect(failed).toMatchObject({ status: 502, code: "output_cap_exhausted", type: "upstream_error" });
      expect(up.calls).toHaveLength(1);
    });

    it("Responses: the parsed call, plain and streamed", async () => {
      await start();
      up.handle(recite({ tools: [{ name: "save_note", args: NOTE }] }));
      const asked = {
        model: "gpt-4o",
        max_output_tokens: CAP,
        input: "Save the note.",
        tools: [
          { type: "function" as const, name: "save_note", parameters: z.toJSONSchema(Note) as never, strict: true },
        ],
      };
      const called = (output: OpenAI.Responses.ResponseOutputItem[]) =>
        output.flatMap((item) => (item.type === "function_call" ? [JSON.parse(item.arguments) as unknown] : []));
      expect(called((await client.responses.create(asked)).output)).toEqual([NOTE]);
      expect(called((await client.responses.stream(asked).finalResponse()).output)).toEqual([NOTE]);
    });
  });

  describe("parsed output", () => {
    const body = {
      model: "gpt-4o",
      max_tokens: CAP,
      messages: [{ role: "user" as const, content: "List the lamps." }],
    };
    const response_format = zodResponseFormat(Inventory, "inventory");
    const text = JSON.stringify(INVENTORY);

    it("parse, plain", async () => {
      await start();
      up.handle(recite(text));
      const { choices } = await client.chat.completions.parse({ ...body, response_format });
      expect(choices[0]?.message.parsed).toEqual(INVENTORY);
    });

    it("stream, joined by the nudge or asked for whole", async () => {
      for (const structured of ["stream", "whole"]) {
        await start({ recovery: { structured } });
        up.handle(recite(text, { nudge: nudges.anchor }));
        const stream = client.chat.completions.stream({ ...body, response_format });
        const { choices } = await stream.finalChatCompletion();
        expect(choices[0]?.message.parsed).toEqual(INVENTORY);
        expect(choices[0]?.finish_reason).toBe("stop");
        await proxy.close();
        await up.close();
      }
      await start();
    });

    it("a cut that cannot be mended raises as a cut, and never parses", async () => {
      await start({ recovery: { maxAttempts: 1 } });
      up.handle(recite(text));
      await expect(client.chat.completions.parse({ ...body, response_format })).rejects.toThrow(
        LengthFinishReasonError,
      );
      const stream = client.chat.completions.stream({ ...body, response_format });
      await expect(stream.finalChatCompletion()).rejects.toThrow(LengthFinishReasonError);
    });

    it("Responses: parse, plain and streamed", async () => {
      await start();
      up.handle(recite(text, { nudge: nudges.anchor }));
      const asked = {
        model: "gpt-4o",
        max_output_tokens: CAP,
        input: "List the lamps.",
        text: { format: zodTextFormat(Inventory, "inventory") },
      };
      expect((await client.responses.parse(asked)).output_parsed).toEqual(INVENTORY);
      expect((await client.responses.stream(asked).finalResponse()).output_parsed).toEqual(INVENTORY);
    });
  });
});
