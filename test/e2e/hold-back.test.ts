import { describe, expect, it } from "vitest";
import { asArray, asObject } from "../../src/core/json.ts";
import { postStream, startStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, pause, say, startUpstream, usage } from "../support/upstream.ts";

const ask = { model: "m", messages: [{ role: "user", content: "hello" }], max_tokens: 100 };

describe("holdBack: word, on a server that can only be nudged", () => {
  it("keeps back the unfinished word, no more, and shows it as soon as it goes on or ends", async () => {
    await using up = await startUpstream({ dialect: "openai" });
    await using proxy = await startProxy(up, { recovery: { holdBack: "word" } });
    up.next(say("The quick bro"), pause("a"), say("wn fox"), say(" jumps"), pause("b"), finish("stop"), done());
    const reply = startStream(`${proxy.url}/chat/completions`, ask);
    await up.reached("a");
    up.release("a");
    await reply.until("wn fox");
    expect(reply.seen()).not.toContain("jumps");
    await up.reached("b");
    up.release("b");
    expect((await reply.done).text()).toBe("The quick brown fox jumps");
  });

  it("the word that was kept back is written by the pass that goes on", async () => {
    await using up = await startUpstream({ dialect: "openai" });
    await using proxy = await startProxy(up, { recovery: { holdBack: "word" } });
    up.next(say("One two three four five six seven"), say(" eig"), finish("length"), usage(5, 100), done());
    up.handle((call) => {
      const partial = asObject(asArray(call.body.messages).at(-2))?.content;
      expect(partial).not.toContain("eig");
      return [say("four five six seven eight nine."), finish("stop"), usage(5, 9), done()];
    });
    const healed = await postStream(`${proxy.url}/chat/completions`, ask);
    expect(healed.text()).toBe("One two three four five six seven eight nine.");
    expect(healed.finish()).toBe("stop");
  });

  it("holds nothing back by default", async () => {
    await using up = await startUpstream({ dialect: "openai" });
    await using proxy = await startProxy(up);
    up.next(say("The quick bro"), pause(), finish("stop"), done());
    const reply = startStream(`${proxy.url}/chat/completions`, ask);
    await reply.until("bro");
    up.release();
    await reply.done;
  });
});
