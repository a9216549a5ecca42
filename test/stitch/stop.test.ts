import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StopScan } from "../../src/stitch/stop.ts";
import { nudge, obeys } from "./joining.ts";

/** What a client gets of these pieces. */
function scan(stops: readonly string[], sent: string, pieces: readonly string[]): { text: string; stopped: boolean } {
  const scanner = new StopScan(stops, sent);
  let text = "";
  for (const piece of pieces) {
    const { emit, stopped } = scanner.push(piece);
    text += emit;
    if (stopped) return { text, stopped };
  }
  return { text: text + scanner.end(), stopped: false };
}

describe("stop strings", () => {
  test("edge 55: a stop that spans the seam ends the reply, and nothing after it is sent", () => {
    expect(scan(["END"], "the E", ["ND and more"])).toEqual({ text: "", stopped: true });
    expect(scan(["END"], "the ", ["EN", "D", " and more"])).toEqual({ text: "", stopped: true });
    expect(scan(["END"], "the ", ["last EN", "D more"])).toEqual({ text: "last ", stopped: true });
  });

  test("edge 55: what looks like the beginning of a stop and is none is sent", () => {
    expect(scan(["END"], "the ", ["EN", "ough"])).toEqual({ text: "ENough", stopped: false });
    expect(scan(["aab"], "a", ["aa", "c"])).toEqual({ text: "aac", stopped: false });
    expect(scan(["aab"], "", ["aaaaa", "b"])).toEqual({ text: "aaaa".slice(0, 3), stopped: true });
  });

  test("edge 56: a stop that stands in the text so far has not ended it again", () => {
    expect(scan(["```"], "text\n```\ncode\n", ["more code"])).toEqual({ text: "more code", stopped: false });
    expect(scan(["```"], "code\n```", ["x"])).toEqual({ text: "x", stopped: false });
  });

  test("edge 56: an anchor is taken out before stops are looked for", () => {
    const whole = "Here it is, as you asked for it:\n\n```js\nrun(1);\nrun(2);\n";
    const sent = whole.slice(0, whole.indexOf("run(2"));
    const { verdict } = nudge(sent, obeys(whole));
    expect(verdict).toMatchObject({ do: "release", how: "anchor" });
    expect(scan(["```"], sent, ["run(2);\n"])).toEqual({ text: "run(2);\n", stopped: false });
  });

  test("edge 57: a partial match that is held at the end of a pass is flushed, and may still be completed by the next", () => {
    const scanner = new StopScan(["<|end|>"], "");
    expect(scanner.push("bye <|en")).toEqual({ emit: "bye ", stopped: false });
    expect(scanner.end()).toBe("<|en");
    expect(scanner.push("d|> more")).toEqual({ emit: "", stopped: true });
  });

  test("of several stops the first to be complete counts, the longest where two are", () => {
    expect(scan(["bc", "abcd"], "", ["xabcd"])).toEqual({ text: "xa", stopped: true });
    expect(scan(["c", "abc"], "", ["xabc"])).toEqual({ text: "x", stopped: true });
    expect(scan(["", "b"], "", ["ab"])).toEqual({ text: "a", stopped: true });
    expect(scan([], "a", ["ab"])).toEqual({ text: "ab", stopped: false });
  });

  test("law: split anywhere, a text stops where the first stop in it stands", () => {
    const letters = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 24 }).map((all) => all.join(""));
    const stop = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 }).map((all) => all.join(""));
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 5 }), stop, (pieces, word) => {
        const whole = pieces.join("");
        const at = whole.indexOf(word);
        expect(scan([word], "", pieces)).toEqual({ text: at < 0 ? whole : whole.slice(0, at), stopped: at >= 0 });
      }),
    );
  });
});
