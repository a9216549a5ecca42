import { afterEach, describe, expect, it } from "vitest";
import { asArray, asObject, asString, type JsonObject } from "../../src/core/json.ts";
import { type Plain, postPlain, postStream } from "../support/client.ts";
import { type Lastword, type ProxyOptions, startProxy } from "../support/proxy.ts";
import {
  done,
  finish,
  recite,
  type Script,
  say,
  startUpstream,
  think,
  type Upstream,
  usage,
} from "../support/upstream.ts";

const ask = {
  model: "m",
  messages: [{ role: "user", content: "What is on the sill?" }],
  max_tokens: 70,
  temperature: 0.5,
  seed: 7,
};
const THOUGHT = "They ask for the sill, where I put the lamp this morning.";
const TEXT = `${"A lamp stands on the sill, and a kettle beside it. ".repeat(9)}That is all.`;
const LOOK = { type: "function", function: { name: "look", parameters: { type: "object" } } };
const only = (rule: JsonObject): ProxyOptions => ({ models: [{ match: "*", upstream: "up", ...rule }] });

describe("a reply that is resumed on the completion endpoint", () => {
  let up: Upstream;
  let proxy: Lastword;
  const start = async (options: ProxyOptions = {}) => {
    up = await startUpstream({ dialect: "llamacpp", window: 32_768 });
    proxy = await startProxy(up, { budget: { reasoningAllowanceTokens: 0 }, ...options });
    up.on("POST /apply-template", (query) => ({ json: { prompt: rendered(query.body) } }));
  };
  afterEach(async () => {
    await proxy.close();
    await up.close();
  });
  const stream = (body: JsonObject = ask) => postStream(`${proxy.url}/chat/completions`, body);
  const plain = (body: JsonObject = ask) => postPlain(`${proxy.url}/chat/completions`, body);
  const strategies = () =>
    proxy.events.filter((event) => event.type === "attempt_started").map(({ strategy }) => strategy);
  const play = (...scripts: Script[]) => {
    for (const script of scripts) up.next(...script);
  };

  it("B55: where prefill is refused while the model thinks, at once and from then on", async () => {
    await start();
    up.handle(recite({ reasoning: THOUGHT, text: TEXT }, { resume: "refuse_thinking" }));
    for (const expected of [
      ["first", "prefill", "raw"],
      ["first", "raw"],
    ]) {
      const before = strategies().length;
      const got = await stream();
      expect(got.text()).toBe(TEXT);
      expect(got.reasoning()).toBe(THOUGHT);
      expect(got.finish()).toBe("stop");
      expect(strategies().slice(before)).toEqual(expected);
    }
    const got = await plain();
    expect(messageOf(got)).toMatchObject({ content: TEXT, reasoning_content: THOUGHT });
  });

  it("goes on from the prompt as the template renders it, with the client's own sampling", async () => {
    await start(only({ continue: "raw" }));
    play(
      [think(THOUGHT), say("A lamp st"), finish("length"), usage(20, 70), done()],
      [say("ands."), finish("stop"), done()],
    );
    const got = await stream();
    expect(got.text()).toBe("A lamp stands.");
    expect(got.finish()).toBe("stop");
    const { path, body } = await up.call(2);
    expect(path).toBe("/v1/completions");
    expect(body).toMatchObject({ model: "m", temperature: 0.5, seed: 7, stream: true, max_tokens: 4096 });
    expect(body.messages).toBeUndefined();
    expect(body.prompt).toBe(
      `<|im_start|>user\nWhat is on the sill?<|im_end|>\n<|im_start|>assistant\n<think>\n${THOUGHT}\n</think>\n\nA lamp st`,
    );
  });

  it("goes on inside of a thought, and tells its end from the answer", async () => {
    await start(only({ continue: "raw" }));
    play(
      [think("They ask for"), finish("length"), usage(20, 70), done()],
      [say(" the sill.\n</th"), say("ink>\n\nA la"), say("mp."), finish("stop"), usage(30, 20), done()],
      [think("They ask for"), finish("length"), usage(20, 70), done()],
      [say(" the sill.\n</think>\n\nA lamp."), finish("stop"), usage(30, 20), done()],
    );
    const got = await stream();
    expect(got.reasoning()).toBe("They ask for the sill.");
    expect(got.text()).toBe("A lamp.");
    expect(messageOf(await plain())).toMatchObject({ content: "A lamp.", reasoning_content: "They ask for the sill." });
    const { body } = await up.call(2);
    expect(asString(body.prompt)).toMatch(/<\|im_start\|>assistant\n<think>\nThey ask for$/);
    expect(body.preserved_tokens).toEqual(["</think>"]);
  });

  it("text that turns to a call is told as text and call, and no sign of the template leaks", async () => {
    await start(only({ continue: "raw" }));
    const made = '<tool_call>\n{"name": "look", "arguments": {"at": "sill"}}\n</tool_call>';
    play(
      [say("Let me "), finish("length"), usage(20, 70), done()],
      [say("look. "), say(made.slice(0, 17)), say(made.slice(17)), finish("stop"), usage(30, 20), done()],
      [say("Let me "), finish("length"), usage(20, 70), done()],
      [say(`look. ${made}`), finish("stop"), usage(30, 20), done()],
    );
    const body = { ...ask, tools: [LOOK] };
    const got = await stream(body);
    expect(got.text()).toBe("Let me look. ");
    expect(got.toolArgs()).toEqual(['{"at": "sill"}']);
    expect(got.finish()).toBe("tool_calls");
    const message = messageOf(await plain(body));
    expect(message?.content).toBe("Let me look. ");
    expect(asArray(message?.tool_calls)).toMatchObject([
      { type: "function", function: { name: "look", arguments: '{"at": "sill"}' } },
    ]);
    const ids = asArray(message?.tool_calls).map((call) => asObject(call)?.id);
    expect(ids[0]).toMatch(/^call_/);
  });

  it("a call in it that cannot be read is asked for anew, and the text before it said once", async () => {
    await start(only({ continue: "raw" }));
    play(
      [say("Let me "), finish("length"), usage(20, 70), done()],
      [say("look. <tool_call>\n[look, sill]</tool_call>"), finish("stop"), usage(30, 20), done()],
      [
        say("Let me look. "),
        { act: "tool", index: 0, id: "c", name: "look", args: '{"at":"sill"}' },
        finish("tool_calls"),
        usage(30, 20),
        done(),
      ],
    );
    const got = await stream({ ...ask, tools: [LOOK] });
    expect(got.text()).toBe("Let me look. ");
    expect(got.toolArgs()).toEqual(['{"at":"sill"}']);
    expect(got.finish()).toBe("tool_calls");
  });

  it.each<[string, JsonObject, (query: JsonObject) => object]>([
    ["the server renders nothing", {}, () => ({ status: 500, json: { error: { message: "no" } } })],
    [
      "calls could not be told from text",
      { tools: [LOOK] },
      (body) => ({ json: { prompt: rendered({ ...body, tools: [] }).replaceAll("<tool_call>\n", "") } }),
    ],
    [
      "the messages hold a picture",
      {
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }] },
        ],
      },
      () => ({ json: { prompt: "" } }),
    ],
    ["log probabilities were asked for", { logprobs: true }, (body) => ({ json: { prompt: rendered(body) } })],
  ])("is nudged instead where %s", async (_name, more, answer) => {
    await start(only({ continue: "raw" }));
    up.on("POST /apply-template", (query) => answer(query.body) as never);
    play(
      [say("A lamp stands on the sill, and"), finish("length"), usage(20, 70), done()],
      [say("the sill, and a kettle."), finish("stop"), usage(30, 20), done()],
    );
    await stream({ ...ask, ...more });
    expect(strategies().slice(0, 2)).toEqual(["first", "nudge"]);
  });
});

function rendered(body: JsonObject): string {
  let prompt = "";
  for (const value of asArray(body.messages)) {
    const { role, content, reasoning_content, tool_calls } = asObject(value) ?? {};
    const thought = asString(reasoning_content) === undefined ? "" : `<think>\n${reasoning_content}\n</think>\n\n`;
    prompt += `<|im_start|>${role}\n${thought}${asString(content) ?? ""}`;
    for (const call of asArray(tool_calls)) {
      const made = asObject(asObject(call)?.function);
      prompt += `<tool_call>\n{"name": "${made?.name}", "arguments": ${made?.arguments}}\n</tool_call>`;
    }
    prompt += "<|im_end|>\n";
  }
  return `${prompt}<|im_start|>assistant\n`;
}

function messageOf({ json }: Plain): JsonObject | undefined {
  return asObject(asObject(asArray(json?.choices)[0])?.message);
}
