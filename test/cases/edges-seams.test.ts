import { describe, expect, it } from "vitest";
import { asArray, asObject, asString } from "../../src/core/json.ts";
import {
  type Call,
  done,
  event,
  finish,
  type Handler,
  nudges,
  role,
  type Script,
  say,
  type UpstreamOptions,
  usage,
} from "../support/upstream.ts";
import type { Nudge } from "../support/upstream-nudges.ts";
import { capped, cut, stage, whole } from "./stage.ts";

/** Resumes the same message, and trims what is sent to it. */
const resuming: UpstreamOptions = { dialect: "vllm", window: 32_768 };
/** Can only be asked in a turn of its own. */
const asked: UpstreamOptions = { dialect: "openai", window: 32_768 };

const turn = (call: Call, at: number) => asString(asObject(asArray(call.body.messages).at(at))?.content) ?? "";

/** A model that knows its text, is cut once, and is asked to go on. */
function model(text: string, at: number, nudge: Nudge = nudges.anchor): Handler {
  return (call, n) =>
    n === 1 ? cut(text.slice(0, at)) : whole(nudge(turn(call, -2), turn(call, -1), text.slice(turn(call, -2).length)));
}

async function resumed(first: string, second: string | Script) {
  const { up, stream, play } = await stage(resuming);
  play(cut(first), typeof second === "string" ? whole(second) : second);
  const got = await stream(capped);
  return { text: got.text(), got, up };
}

async function went(handler: Handler, more: object = {}) {
  const { up, stream, proxy } = await stage(asked);
  up.handle(handler);
  const got = await stream({ ...capped, ...more });
  return { text: got.text(), finish: got.finish(), up, end: await proxy.finished() };
}

const STORY =
  "The mill stood at the bend of the river. Nobody had worked there for years. In the evenings the children came down to the water, " +
  "and old Anna told them how the wheel had turned by day and by night. Then she went home.";
const inStory = (after: string) => STORY.indexOf(after) + after.length;

describe("whitespace and characters", () => {
  it.each([
    ["edge 19: half a word", "imple", "mentation", "implementation"],
    ["edge 20: a space that leads the rest", "the", " cat", "the cat"],
    ["edge 21: a space that was shown, trimmed and comes again", "the ", " cat", "the cat"],
    ["edge 22: line breaks that were shown and do not come again", "para.\n\n", "Next", "para.\n\nNext"],
    ["edge 23: line breaks that come again", "para.\n\n", "\n\nNext", "para.\n\nNext"],
    ["edge 24: an indentation", "def f():\n    x = 1\n    ", "return x", "def f():\n    x = 1\n    return x"],
    ["edge 24: one that comes again", "def f():\n    x = 1\n    ", "    return x", "def f():\n    x = 1\n    return x"],
    ["edge 25: no blanks at all", "我们明天早上", "一起去爬山", "我们明天早上一起去爬山"],
    ["edge 25: an address", "https://example.org/a/very/lo", "ng/path", "https://example.org/a/very/long/path"],
    ["edge 28: a character of several", "family: 👩‍", "👧", "family: 👩‍👧"],
    ["edge 29: a line break of two characters", "a\r", "\nb", "a\r\nb"],
    ["edge 30: a space that does not break", "10\u00a0", "km", "10\u00a0km"],
    ["edge 30: right to left", "שלום ", "עולם", "שלום עולם"],
    ["edge 31: a byte order mark", "one ", "\ufefftwo", "one two"],
    ["edge 36: a refrain", "la la la\n", "la la la\n", "la la la\nla la la\n"],
    ["edge 36: equal rows", "| a | b |\n| a | b |\n", "| a | b |\n", "| a | b |\n| a | b |\n| a | b |\n"],
    ["edge 37: one letter alike", "It was a", "apple", "It was aapple"],
    ["edge 37: the same sign", "One. ", ". Two", "One. . Two"],
    ["edge 38: two Chinese characters alike", "他说今天", "今天不行", "他说今天今天不行"],
    ["edge 39: nothing alike", "The pump was", " switched off.", "The pump was switched off."],
    [
      "edge 42: words that only look like a preamble",
      "He said: ",
      "Sure, continuing is fine.",
      "He said: Sure, continuing is fine.",
    ],
    [
      "edge 45: a block opened again",
      "```python\na = 1\n",
      "```python\nb = 2\n```\n",
      "```python\na = 1\nb = 2\n```\n",
    ],
    ["edge 46: a bare fence closes", "```python\na = 1\n", "```\nDone.", "```python\na = 1\n```\nDone."],
    ["edge 47: right behind an opening fence", "```py", "\na = 1\n```", "```py\na = 1\n```"],
    ["edge 48: inside the closing fence", "```py\na = 1\n``", "`\n", "```py\na = 1\n```\n"],
    ["edge 49: a fence of four", "````md\n```py\na\n", "```\n````\n", "````md\n```py\na\n```\n````\n"],
    ["edge 49: tildes", "~~~py\na\n", "~~~\nend", "~~~py\na\n~~~\nend"],
    ["edge 50: a half marker", "6. six\n7", ". seven", "6. six\n7. seven"],
    ["edge 52: inside a tag", "<div cla", 'ss="a">', '<div class="a">'],
    ["edge 53: an open formula", "$$\na = b\n", "+ c\n$$", "$$\na = b\n+ c\n$$"],
  ])("%s", async (_name, first, second, joined) => {
    expect((await resumed(first, second)).text).toBe(joined);
  });

  it("edge 26: a character that was cut is replaced by the real one", async () => {
    const { text, up } = await resumed("今天的天\uFFFD", "气很好");
    expect(text).toBe("今天的天气很好");
    expect(up.calls[1]?.bytes.toString()).not.toContain("\uFFFD");
  });

  it("edge 27: halves of a pair that come apart leave together", async () => {
    const { stream, play } = await stage(resuming);
    const half = (content: string) =>
      event({
        id: "c1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      });
    play([half("a \ud83d"), half("\ude00 b"), finish("stop"), done()]);
    expect((await stream()).text()).toBe("a 😀 b");
    play([half("a \ud83d"), finish("length"), usage(5, 100), done()], whole("😀 b"));
    const got = await stream(capped);
    expect(got.text()).toBe("a 😀 b");
    expect(got.text()).not.toMatch(/\p{Cs}/u);
  });

  it("edge 28: a nudged model is shown no half of a character", async () => {
    const text = "This is what the whole family looked like on that day: 👩‍👧 and then they all went home again.";
    const at = text.indexOf("👧");
    const { text: got, up } = await went(model(text, at));
    expect(got).toBe(text);
    expect(turn(up.calls[1] as Call, -2).endsWith("\u200d")).toBe(false);
  });

  it("edge 31: a role and an empty delta at the beginning of a pass leave no trace", async () => {
    const { got } = await resumed("one ", [role(), say(""), say("two"), finish("stop"), done()]);
    expect(got.text()).toBe("one two");
    const roles = got.chunks.filter((each) => JSON.stringify(each.choices).includes('"role"'));
    expect(roles).toHaveLength(1);
  });
});

describe("repetition and restarts, where a model can only be nudged", () => {
  it("edge 32: the last sentence again is there once", async () => {
    expect((await went(model(STORY, inStory("came down to the wa"), nudges.repeatSentence))).text).toBe(STORY);
  });

  it("edge 33: two lines again in other spacing are there once, as they were first", async () => {
    const text =
      "function total(rows) {\n  let sum = 0;\n  for (const row of rows) sum += row.price;\n  return sum;\n}\n";
    const again: Nudge = () => "  let  sum = 0;\n for (const row of rows)  sum += row.price;\n  return sum;\n}\n";
    expect((await went(model(text, text.indexOf("row.pri") + 7, again))).text).toBe(text);
  });

  it("edge 34: all of it again is there once", async () => {
    expect((await went(model(STORY, inStory("how the wheel"), nudges.restart))).text).toBe(STORY);
  });

  it("edge 35: begun anew and told differently, it is not appended", async () => {
    const other =
      "The mill stood at the bend of the river. But one day a stranger bought it, and he put in new stones and hired two men.";
    const at = inStory("how the wheel");
    const { text, finish, up, end } = await went((_call, n) => (n === 1 ? cut(STORY.slice(0, at)) : whole(other)));
    expect(text).toBe(STORY.slice(0, at));
    expect(finish).toBe("length");
    expect(up.calls.length).toBeLessThanOrEqual(3);
    expect(end).toMatchObject({ outcome: "cut_off" });
  });

  it.each(["Sure, continuing where I left off:\n\n", "Hier geht es weiter:\n\n"])(
    "edge 42: %j is dropped in front of what aligns",
    async (words) => {
      const preamble: Nudge = (partial, nudge, rest) => words + nudges.anchor(partial, nudge, rest);
      expect((await went(model(STORY, inStory("the children came"), preamble))).text).toBe(STORY);
    },
  );

  it("edge 43: an apology is no progress: asked once more, then told as cut", async () => {
    const at = inStory("the children came");
    const sorry: Nudge = () => "I apologize for the interruption, my last message was cut off.";
    const { text, finish, up } = await went(model(STORY, at, sorry));
    expect(text).toBe(STORY.slice(0, at));
    expect(finish).toBe("length");
    expect(up.calls).toHaveLength(3);
  });

  it("edge 44: a closing remark is the answer's own", async () => {
    const text = `${STORY}\n\nLet me know if you want to hear more of it.`;
    expect((await went(model(text, inStory("Then she went home.")))).text).toBe(text);
  });

  it("edge 50: a list cut at its marker is numbered once", async () => {
    const text =
      "Steps to take:\n5. Open the lid of the box\n6. Take the filter out\n7. Rinse it under the tap\n8. Put it back";
    for (const after of ["out\n7", "out\n7."])
      expect((await went(model(text, text.indexOf(after) + after.length))).text).toBe(text);
  });

  it("edge 51: a table's head that comes again is left out, and the row is whole", async () => {
    const head = "| City | River | Year |\n| --- | --- | --- |\n";
    const text = `${head}| Basel | Rhine | 1226 |\n| Prague | Vltava | 1357 |\n| Rome | Tiber | 1474 |\n`;
    const again: Nudge = (_partial, nudge, rest) => head + nudges.anchor(text.slice(0, -rest.length), nudge, rest);
    expect((await went(model(text, text.indexOf("Vlt") + 3, again))).text).toBe(text);
  });

  it("edge 54: an answer in another language is not joined, and the next request names the language", async () => {
    const at = inStory("the children came");
    const german =
      "Am Abend kamen die Kinder an das Wasser hinunter, und die alte Anna erzählte ihnen, wie sich das Rad bei Tag und Nacht gedreht hatte.";
    const { text, up } = await went((call, n) => (n === 2 ? whole(german) : model(STORY, at)(call, n)));
    expect(text).toBe(STORY);
    expect(turn(up.calls[2] as Call, -1)).not.toBe(turn(up.calls[1] as Call, -1));
    expect(turn(up.calls[2] as Call, -1)).toMatch(/language|English/i);
  });
});

describe("echoes", () => {
  it("edge 40: a server that says again what it was given to go on from", async () => {
    const { plain, play, proxy } = await stage({ dialect: "llamacpp", window: 32_768 });
    const at = inStory("the children came");
    play(cut(STORY.slice(0, at)), whole(STORY));
    const got = await plain(capped);
    expect(asObject(asArray(got.json?.choices)[0])?.message).toMatchObject({ content: STORY });
    expect(await proxy.finished()).toMatchObject({ outcome: "healed" });
  });

  it("edge 41: what the client wants to have echoed is echoed once", async () => {
    const prompt = "Once upon a time";
    const request = { model: "m", prompt, echo: true, max_tokens: 100 };
    const { up, stream, plain, play } = await stage({ ...resuming }, { recovery: { caps: "advisory" } });
    const scripts = [cut(`${prompt} there was a man`), whole(" who had a mill.")];
    const advisory = { "x-lastword-caps": "advisory" };
    play(...scripts, ...scripts);
    expect((await stream(request, advisory, "/completions")).text()).toBe(`${prompt} there was a man who had a mill.`);
    const got = await plain(request, advisory, "/completions");
    expect(asObject(asArray(got.json?.choices)[0])?.text).toBe(`${prompt} there was a man who had a mill.`);
    expect(up.calls[1]?.body).toMatchObject({ prompt: `${prompt} there was a man`, echo: false });
  });
});

describe("stop strings", () => {
  const stopping = { ...capped, stop: ["END"] };

  it("edge 55: one that spans the joint ends the reply, with nothing behind it", async () => {
    const { stream, play } = await stage(resuming);
    play(cut("a list EN"), whole("D and more"));
    const got = await stream(stopping);
    // Text is never held: its first two letters were shown before anybody could know.
    expect(got.text()).toBe("a list EN");
    expect(got.finish()).toBe("stop");
  });

  it("edge 56: one that stands in what was said is not looked for in it again", async () => {
    const text = "As code:\n\n```py\na = 1\nb = 2\nc = 3\nd = 4\ne = 5\n";
    const { up, stream } = await stage(asked);
    up.handle(model(text, text.indexOf("c = 3") + 3));
    const got = await stream({ ...capped, stop: ["As code"] });
    expect(got.text()).toBe(text);
    expect(got.finish()).toBe("stop");
  });

  it("edge 57: the beginning of one that goes on otherwise is shown", async () => {
    const { stream, play } = await stage(resuming);
    play(cut("a list EN"), whole("OUGH of it"));
    expect((await stream(stopping)).text()).toBe("a list ENOUGH of it");
  });
});
