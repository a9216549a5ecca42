import { describe, expect, test } from "vitest";
import { demo } from "../../src/cli/demo.ts";
import { startProxy } from "../support/proxy.ts";

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

/** The proxy as it is, which has to find out for itself what stands behind it. */
const real = async (upstreamUrl: string) => {
  const upstream = { url: upstreamUrl, dialect: "generic" } as const;
  const upstreams = [{ name: "demo", url: upstreamUrl, dialect: "auto" }];
  const proxy = await startProxy(upstream, { upstreams });
  return { url: proxy.root, close: () => proxy.close() };
};

describe("lastword demo", () => {
  test.each([
    [false, "2. prefill (the server goes on with its own message): 35 tokens"],
    [true, "2. nudge (asked to go on from its last words)"],
  ])("shows a reply made whole, and exits with 0; nudged: %s", async (nudge, told) => {
    const paper = new Paper(false);
    expect(await demo({ keep: false, nudge }, real, paper)).toBe(0);
    expect(paper.text).toContain("-- CUT OFF: finish_reason length --");
    expect(paper.text).toContain("-- WHOLE: finish_reason stop --");
    expect(paper.text).toContain("1. first (the request as it came): 80 tokens of at most 80, cut off");
    expect(paper.text).toContain(told);
  });

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
