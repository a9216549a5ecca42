import { describe, expect, test } from "vitest";
import { demo } from "../../src/cli/demo.ts";

class Paper {
  readonly isTTY: boolean;
  readonly columns = 100;
  text = "";
  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }
  hasColors() {
    return false;
  }
  write(text: string) {
    this.text += text;
  }
}

/** A proxy that heals nothing: the server itself. */
const passive = (closed: string[]) => async (upstreamUrl: string) => ({
  url: upstreamUrl.replace(/\/v1$/, ""),
  close: async () => {
    closed.push("proxy");
  },
});

describe("lastword demo", () => {
  test("exits with 1 where the reply is not whole, and stops what it started", async () => {
    const closed: string[] = [];
    const paper = new Paper(false);
    expect(await demo({ keep: false, nudge: false }, passive(closed), paper)).toBe(1);
    expect(paper.text).toContain("-- NOT WHOLE: finish_reason length --");
    expect(closed).toEqual(["proxy"]);
  });

  test("is drawn for the terminal that it runs on", async () => {
    const paper = new Paper(true);
    await demo({ keep: false, nudge: true }, passive([]), paper);
    expect(paper.text).toMatch(/STRAIGHT FROM THE SERVER +│ THROUGH LASTWORD/);
  });

  test("a proxy that does not start is told", async () => {
    const broken = () => Promise.reject(new Error("no port"));
    await expect(demo({ keep: false, nudge: false }, broken, new Paper(false))).rejects.toThrow("no port");
  });
});
