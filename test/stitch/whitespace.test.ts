import { describe, expect, test } from "vitest";
import { solidEnd } from "../../src/stitch/characters.ts";
import { believe, goesOn, nudge, nudgeTwice, obeys, resume } from "./joining.ts";

describe("whitespace and characters", () => {
  test("edge 19: half a word is joined with its other half, with nothing in between", () => {
    expect(resume("imple", "mentation").text).toBe("implementation");
    const whole = "The engineers agreed that the implementation was sound.";
    const sent = whole.slice(0, whole.indexOf("mentation"));
    expect(nudge(sent, obeys(whole)).text).toBe(whole);
    expect(nudge(sent, goesOn(whole)).text).toBe(whole);
  });

  test("edge 20: the one space between two words survives", () => {
    expect(resume("the", " cat").text).toBe("the cat");
    expect(believe("the", " cat").text).toBe("the cat");
  });

  test("edge 21: a space that was trimmed upstream and comes again is there once", () => {
    expect(resume("the ", " cat", { trimmed: " " }).text).toBe("the cat");
    expect(resume("the ", "cat", { trimmed: " " }).text).toBe("the cat");
  });

  test("edge 22: line breaks that were trimmed upstream and do not come again are kept", () => {
    expect(resume("para.\n\n", "Next", { trimmed: "\n\n" }).text).toBe("para.\n\nNext");
  });

  test("edge 23: line breaks that were trimmed and come again are two, not four", () => {
    expect(resume("para.\n\n", "\n\nNext", { trimmed: "\n\n" }).text).toBe("para.\n\nNext");
    expect(resume("para.\n\n", "\nNext", { trimmed: "\n\n" }).text).toBe("para.\n\nNext");
    expect(resume("para.\n\n", " Next", { trimmed: "\n\n" }).text).toBe("para.\n\nNext");
  });

  test("edge 23: line breaks that were not trimmed are the model's own", () => {
    expect(resume("para.\n", "\nNext").text).toBe("para.\n\nNext");
  });

  test.each([
    ["indentation goes on", "    return 1"],
    ["it ends here", "return 1"],
  ])("edge 24: cut inside an indentation, %s", (_, rest) => {
    const sent = "def one():\n    ";
    const whole = `def one():\n    ${rest}\n`;
    expect(resume(sent, whole.slice(sent.length)).text).toBe(whole);
    expect(resume(sent, whole.slice("def one():".length), { trimmed: "\n    " }).text).toBe(whole);
    const longer = `import time\n\ndef one_of_them(value):\n    ${rest}\n`;
    expect(nudge(longer.slice(0, longer.indexOf(rest)), obeys(longer)).text).toBe(longer);
  });

  test.each([
    ["Chinese", "旧水泵在夜里被关掉因为阀门一直漏水委员会已经读完了全部记录港口负责人明白后果"],
    ["base64", "uBgsBPCqLpI2EXZS4wE2Tw8a7kDiKLR39sFDksWRMNX3xvOJSRcPryZNeF77W1en33sNfm0UQS4z7Q"],
    ["a URL", "https://example.org/archive/1931/reports/harbour-master/pump/valve/ledger/index.html?id=77"],
  ])("edge 25: %s, which has no blanks, is joined like anything else", (_, whole) => {
    const sent = whole.slice(0, -8);
    expect(resume(sent, whole.slice(sent.length)).text).toBe(whole);
    expect(nudge(sent, obeys(whole)).text).toBe(whole);
    expect(nudgeTwice(sent, goesOn(whole)).text).toBe(whole);
  });

  test("edge 26: U+FFFD that a cap left is no part of the text, and the character comes whole", () => {
    const cut = "price: 5 \ufffd\ufffd";
    const sent = cut.slice(0, solidEnd(cut));
    expect(resume(sent, "€ each").text).toBe("price: 5 € each");
    expect("a \ufffd b".slice(0, solidEnd("a \ufffd b"))).toBe("a \ufffd b");
  });

  test("edge 27: half a surrogate pair is never solid", () => {
    const cut = "ok \ud83d";
    expect(cut.slice(0, solidEnd(cut))).toBe("ok ");
    expect(resume("ok ", "😀!").text).toBe("ok 😀!");
  });

  test.each(["👩‍👩‍👧‍👦", "🇩🇪", "é", "क्षि", "👍🏽"])("edge 28: %s cut inside is joined whole", (character) => {
    const whole = `The second engine was switched off ${character} and nobody noticed.`;
    const start = whole.indexOf(character);
    for (let at = start + 1; at < start + character.length; at++) {
      const sent = whole.slice(0, solidEnd(whole.slice(0, at)));
      expect(resume(sent, whole.slice(sent.length)).text).toBe(whole);
      expect(nudge(sent, obeys(whole)).text).toBe(whole);
    }
  });

  test("edge 28: what is shown to a nudged model ends at a grapheme", () => {
    const sent = "The second engine was switched off 👩\u200d👩\u200d";
    expect(
      nudge(sent, ({ partial }) => {
        expect(partial).toBe("The second engine was switched off");
        return "";
      }).discarded,
    ).toBeNull();
  });

  test("edge 29: CRLF cut in the middle is one line break", () => {
    const whole = "The first line of the report ends here.\r\nThe second line begins.";
    const sent = whole.slice(0, whole.indexOf("\n"));
    expect(resume(sent, whole.slice(sent.length)).text).toBe(whole);
    expect(resume(sent, "\r\nThe second line begins.", { trimmed: "\r" }).text).toBe(whole);
    expect(nudge(sent, obeys(whole)).text).toBe(whole);
    const lf = whole.replace("\r\n", "\n");
    expect(nudge(sent, ({ anchor }) => anchor + lf.slice(lf.indexOf("\n"))).text).toBe(whole);
  });

  test.each(["\u00a0", "\u202f", "\u200b", "\u200d", "\ufeff", "\u061c", "\u200f"])(
    "edge 30: U+%# at the joint is kept as it is",
    (sign) => {
      const whole = `مدير الميناء قرأ السجل كله${sign}ولم يعترف بالخطأ حتى انطفأت الأضواء`;
      for (const at of [whole.indexOf(sign), whole.indexOf(sign) + 1]) {
        const sent = whole.slice(0, at);
        expect(resume(`${sent}`, `x${whole.slice(at)}`).text).toBe(`${sent}x${whole.slice(at)}`);
        if (sign !== "\ufeff") expect(resume(sent, whole.slice(at)).text).toBe(whole);
        expect(nudge(sent, obeys(whole)).text).toBe(whole);
      }
    },
  );

  test("edge 31: a byte order mark in front of a pass is dropped, an empty delta changes nothing", () => {
    expect(resume("the", "\ufeff cat").text).toBe("the cat");
    expect(resume("the", "").text).toBe("the");
  });
});
