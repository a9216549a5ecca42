import { describe, expect, it } from "vitest";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { finish, reply, say, startUpstream, usage } from "../support/upstream.ts";
import { recite } from "../support/upstream-recite.ts";

const TEXT = `${"The quick brown fox jumps over the lazy dog, and then it sleeps. ".repeat(3)}Here is the end of it.`;
const ask = { model: "m", messages: [{ role: "user", content: "recite" }] };

describe("a chat reply that is cut", () => {
  for (const dialect of ["llamacpp", "vllm", "generic", "openai"] as const) {
    it(`arrives whole, streamed and plain, from ${dialect}`, async () => {
      await using up = await startUpstream({ dialect });
      await using proxy = await startProxy(up);
      up.handle(recite(TEXT));
      for (const max_tokens of [70, 71, 72]) {
        const streamed = await postStream(
          `${proxy.url}/chat/completions`,
          { ...ask, max_tokens: max_tokens - 60 },
          { "x-lastword-explain": "1" },
        );
        expect(streamed.status).toBe(200);
        expect(streamed.finish()).toBe("length");
        const healed = await postStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 80 - 10 });
        expect(healed.text()).toBe(TEXT);
        expect(healed.finish()).toBe("stop");
        const plain = await postPlain(`${proxy.url}/chat/completions`, { ...ask, max_tokens });
        expect(plain.status).toBe(200);
        expect(plain.json).toMatchObject({ choices: [{ message: { content: TEXT }, finish_reason: "stop" }] });
      }
    });
  }

  it("is forwarded untouched where it is not cut", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    up.next(...reply(["Hel", "lo"]));
    up.next(...reply(["Hel", "lo"]));
    const straight = await postStream(`${up.url}/chat/completions`, ask);
    const through = await postStream(`${proxy.url}/chat/completions`, ask);
    const numbered = (bytes: Buffer) => bytes.toString().replace(/chatcmpl-\d+|"created":\d+/g, "");
    expect(numbered(through.bytes)).toBe(numbered(straight.bytes));
    expect(await proxy.finished()).toMatchObject({ outcome: "complete", model: "m" });
  });

  it("is left as it is with healing off", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    up.next(say("Hel"), finish("length"), usage(3, 100));
    const through = await postStream(
      `${proxy.url}/chat/completions`,
      { ...ask, max_tokens: 100 },
      { "x-lastword-heal": "off" },
    );
    expect(through.text()).toBe("Hel");
    expect(through.finish()).toBe("length");
    expect(up.calls).toHaveLength(1);
    expect(await proxy.finished()).toMatchObject({ outcome: "cut_off" });
  });
});
