import { describe, expect, test } from "vitest";
import { isLoop } from "../../src/stitch/repetition.ts";
import { believe, nudge, nudgeTwice, obeys, repeatsFrom, resume } from "./joining.ts";

const STORY =
  "The old pump was switched off before the storm reached the coast. Nobody in the village understood why the valve had been leaking. The ledger says nothing of it.";
const CUT = STORY.slice(0, STORY.indexOf("derstood"));

describe("repetition and restarts", () => {
  test("edge 32: the last sentence, repeated by a nudged model, is there once", () => {
    expect(nudge(CUT, repeatsFrom(STORY, "Nobody")).text).toBe(STORY);
  });

  test("edge 32: also where the cut fell at the end of a sentence", () => {
    const sent = STORY.slice(0, STORY.indexOf(" The ledger"));
    expect(nudgeTwice(sent, repeatsFrom(STORY, "Nobody")).text).toBe(STORY);
    // A model that takes no notice of what it is shown says the same both times.
    expect(nudgeTwice(sent, () => STORY.slice(STORY.indexOf("Nobody"))).text).toBe(STORY);
  });

  test("edge 33: two lines repeated with other spacing are aligned, and the client's own bytes stay", () => {
    const whole = "pump:  was switched off\n\tvalve: was leaking all night\nledger: kept open\n";
    const sent = whole.slice(0, whole.indexOf("ger:"));
    const again = "pump: was switched off\n    valve: was  leaking all night\nledger: kept open\n";
    expect(nudge(sent, again).text).toBe(whole);
  });

  test("edge 34: a restart from the top is swallowed up to the cut", () => {
    expect(nudge(CUT, STORY).text).toBe(STORY);
    expect(believe(CUT, STORY).text).toBe(STORY);
  });

  test("edge 35: a restart that tells it differently is discarded, and so is the second", () => {
    const other = STORY.replace("before the storm", "as soon as the storm").replace("coast", "harbour");
    expect(nudge(CUT, other).discarded).toBe("restart_diverged");
    expect(nudgeTwice(CUT, () => other).discarded).not.toBeNull();
    expect(believe(CUT, other).discarded).toBe("restart_diverged");
  });

  const ROW = "| - | - | - | - | - | - | - | - | - | - | - | - | - | - | - | - | - |\n";
  const REFRAIN = "and round and round and round we go, the stone above, the stone below.\n";
  test.each([
    ["a refrain", REFRAIN, REFRAIN],
    ["identical rows", ROW.repeat(3), ROW.repeat(4)],
    ["one letter over and over", "a".repeat(100), "a".repeat(80)],
    ["a counter", "1, 2, 3, 4, 5, ", "1, 2, 3, 4, 5, 6"],
  ])("edge 36: %s at the joint, on a server that resumes, stays whole", (_, sent, pass) => {
    expect(resume(sent, pass).text).toBe(sent + pass);
    expect(resume(sent, pass, { strategy: "raw" }).text).toBe(sent + pass);
    expect(resume(sent, pass).heldTo).toBe(1);
  });

  test.each([
    ["a refrain sung twice", `The wheel goes round.\n${REFRAIN}`, `${REFRAIN}The children sleep.`],
    ["identical rows", `Rows:\n\n${ROW.repeat(3)}`, ROW.repeat(3)],
  ])("edge 36: %s, where nobody can tell, is never eaten: no answer rather than a wrong one", (_, sent, rest) => {
    for (const answer of [rest, rest.trimStart()]) {
      const joined = nudgeTwice(sent, ({ partial }) => (sent + answer).slice(partial.length));
      if (joined.discarded === null) expect(joined.text).toBe(sent + answer);
    }
    expect(believe(sent, rest).discarded).toBe("ambiguous");
  });

  test.each([
    ["a", "apple"],
    [". ", ". "],
    ["He said na", "na na na"],
  ])("edge 37: the chance likeness of %j and %j removes nothing", (sent, pass) => {
    expect(resume(sent, pass).text).toBe(sent + pass);
    expect(nudge(`The old pump was there${sent}`, pass).text).toBe(`The old pump was there${sent}`);
  });

  test("edge 38: a chance likeness of two or three Chinese characters removes nothing", () => {
    expect(resume("委员会读完了记录", "记录在案").text).toBe("委员会读完了记录记录在案");
    expect(nudge("旧水泵在夜里被关掉,委员会读完了记录", "记录在案的事情很多").discarded).not.toBeNull();
  });

  test("edge 39: no overlap is the good case, and flows from its first character", () => {
    const joined = resume("The old pump was", " switched off.");
    expect(joined.text).toBe("The old pump was switched off.");
    expect(joined.heldTo).toBe(1);
  });

  test.each([
    ["with its blank", "The old pump was switched off."],
    ["its blank moved", "The old pump was switched off."],
  ])("edge 40: an echo is stripped, %s", (_, pass) => {
    expect(resume("The old pump was ", pass, { echo: "always" }).text).toBe("The old pump was switched off.");
    expect(resume("The old pump was", pass, { echo: "plain" }).text).toBe("The old pump was switched off.");
  });

  test("edge 40: blanks of an echo are there once, and new ones stay", () => {
    expect(resume("para.\n", "para.\nNext", { echo: "always" }).text).toBe("para.\nNext");
    expect(resume("para.\n", "para.\n\nNext", { echo: "always" }).text).toBe("para.\n\nNext");
    expect(resume("para.\n\n", "para.Next", { echo: "always", trimmed: "\n\n" }).text).toBe("para.\n\nNext");
  });

  test("edge 40: where an echo may come and does not, nothing is stripped", () => {
    expect(resume("The old pump", " was there.", { echo: "always" }).text).toBe("The old pump was there.");
    expect(resume("The old pump", "The", { echo: "always" }).text).toBe("The old pumpThe");
  });

  test.each([
    "Sure, here is the rest:\n\n",
    "Certainly! Here's the continuation:\n",
    "Hier geht es weiter:\n\n",
    "Voici la suite :\n",
    "好的,继续:\n",
    "Continuing from where I left off: ",
    "...",
  ])("edge 42: %j in front of an alignment is dropped", (preamble) => {
    expect(nudge(CUT, (asked) => preamble + obeys(STORY)(asked)).text).toBe(STORY);
  });

  test("edge 42: in front of nothing that aligns it drops nothing, and what resumes may begin with Sure", () => {
    expect(
      nudge(CUT, "Sure, here is the rest:\n\nThe boats came back at noon, one after the other.").discarded,
    ).not.toBeNull();
    expect(resume("The door moved. ", "Sure enough, it opened:\n").text).toBe(
      "The door moved. Sure enough, it opened:\n",
    );
    expect(believe("The door moved.", " Sure enough, it opened:\n").text).toBe(
      "The door moved. Sure enough, it opened:\n",
    );
  });

  test.each([
    "I apologize for the confusion, my previous message was cut off.",
    "It looks like my last response was interrupted. How would you like me to continue?",
    "Entschuldigung, meine Antwort wurde abgebrochen.",
    "抱歉,我之前的回复被截断了。",
  ])("edge 43: %j is no progress", (remark) => {
    expect(nudge(CUT, remark).discarded).toBe("comment_only");
    expect(believe(`${STORY}\n\n`, remark).discarded).toBe("comment_only");
  });

  test("edge 44: a closing remark after the answer is the answer's", () => {
    const whole = `${STORY}\n\nLet me know if you need more.`;
    expect(nudge(STORY, obeys(whole)).text).toBe(whole);
    expect(believe(STORY, "\n\nLet me know if you need more.").text).toBe(whole);
  });

  test("a nudged model that loops from its first words on is not believed", () => {
    expect(nudge(CUT, ({ anchor }) => `${anchor} `.repeat(10)).discarded).not.toBeNull();
    const sent = STORY.slice(0, STORY.indexOf("valve"));
    expect(nudge(sent, ({ anchor }) => `${anchor} `.repeat(10)).discarded).toBe("loop");
  });
});

describe("loops", () => {
  test.each([
    ["one sentence", "The pump was switched off before the storm. ".repeat(12)],
    ["a paragraph", `${STORY}\n`.repeat(4)],
    ["blanks", `{"a": ${" ".repeat(250)}`],
    ["one token", `Well ${"no, ".repeat(80)}`],
    ["after a good beginning", `${STORY}\n${"and then the pump stopped, ".repeat(20)}`],
  ])("edge 94: %s over and over is a loop", (_, text) => {
    expect(isLoop(text)).toBe(true);
  });

  test.each([
    ["prose", STORY.repeat(2)],
    ["a short text", "no no no no no no"],
    [
      "a song with its refrain",
      Array.from(
        { length: 6 },
        (_, i) => `Verse ${i}: ${STORY.slice(i * 9, i * 9 + 90)}\nand round we go,\nthe stone below.\n`,
      ).join("\n"),
    ],
    ["a list", Array.from({ length: 60 }, (_, i) => `- item ${i} of the list`).join("\n")],
  ])("edge 94: %s is none", (_, text) => {
    expect(isLoop(text)).toBe(false);
  });

  test("a restart of a text that is its own beginning over again is nobody's guess", () => {
    const sent = "row, row, row your boat\n".repeat(6);
    expect(nudge(sent, `${sent}gently down the stream`).discarded).toBe("ambiguous");
    expect(believe(sent, `${sent}gently down the stream`).discarded).toBe("ambiguous");
  });
});
