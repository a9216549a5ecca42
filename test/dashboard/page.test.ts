import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { done, finish, pause, say, startUpstream, usage } from "../support/upstream.ts";
import { type Browser, hasBrowser, type Look, startBrowser } from "./browser.ts";
import { begin, end, oneOfEach } from "./day.ts";

const ask = { model: "m", messages: [{ role: "user", content: "a secret prompt" }] };

describe.skipIf(!hasBrowser)("the dashboard in a real browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, 30_000);
  afterAll(() => browser[Symbol.asyncDispose]());

  test("a live request grows, is cut, joined at a seam, and ends healed; one over the window is rejected", async () => {
    await using up = await startUpstream({ dialect: "llamacpp", window: 2048 });
    await using proxy = await startProxy(up);
    const page = await browser.visit(proxy.root);
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.textContent("#base-url")).toBe(proxy.url);

    const words = (count: number) => Array.from({ length: count }, (_, at) => say(`secret${at} `));
    up.next(...words(70), pause("growing"), ...words(30), finish("length"), usage(20, 100), done());
    up.next(pause("cut"), ...words(40), pause("joined"), ...words(10), finish("stop"), usage(120, 50), done());
    const reply = postStream(`${proxy.url}/chat/completions`, { ...ask, max_tokens: 100 });
    const row = page.locator("#now-list .run");
    await up.reached("growing");
    await row.getByText("writing").waitFor();
    await row.getByText(/^reply 7\d$/).waitFor();
    const before = await widthOf(page, ".bar-reply");
    up.release("growing");
    await up.reached("cut");
    await row.getByText("cut just now").waitFor();
    expect(await page.locator(".bar-cut").count()).toBe(1);
    expect(await widthOf(page, ".bar-reply")).toBeGreaterThan(before);
    up.release("cut");
    await up.reached("joined");
    await row.getByText("1 seam").waitFor();
    expect(await page.locator(".bar-seam").count()).toBe(1);
    expect(await page.locator(".bar-reply").count()).toBe(2);
    up.release("joined");
    expect((await reply).finish()).toBe("stop");
    await page.locator("#recent-rows tr", { hasText: "healed" }).waitFor();
    await page.getByText("Nothing is under way.").waitFor();
    expect(await page.textContent("#figure-healed")).toBe("1");
    expect(await page.textContent("#figure-saved")).toBe("100");

    const tooLong = { ...ask, messages: [{ role: "user", content: "secret words ".repeat(4000) }] };
    expect((await postPlain(`${proxy.url}/chat/completions`, tooLong)).status).toBe(400);
    await page.locator("#recent-rows tr", { hasText: "the prompt does not fit the window" }).waitFor();

    await page.locator("#recent-rows tr", { hasText: "healed" }).click();
    const detail = page.getByRole("dialog");
    await detail.getByText("The reply was cut or lost on the way, and was made whole.").waitFor();
    expect(await detail.locator("#detail-rows tr:not(.rest)").count()).toBe(2);
    expect(await detail.locator(".bar-seam").count()).toBe(1);
    expect(await page.content()).not.toContain("secret");
    await page.close();
  });

  test("a proxy that goes away is told of, and one that comes back is followed, without what was before", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using first = await startProxy(up);
    await using second = await startProxy(up);
    const before = createApp(first.services);
    const { url } = await before.listen("127.0.0.1", 0);
    begin(first.services, { id: "old", model: "old-model" });
    const page = await browser.visit(url);
    await page.getByText("old-model").waitFor();
    await before.close(0);
    await page.getByText("Reconnecting", { exact: true }).waitFor();
    await page.getByRole("alert").getByText("There is no contact with the proxy.").waitFor();
    // What was known stays to be read meanwhile.
    expect(await page.getByText("old-model").isVisible()).toBe(true);

    const after = createApp(second.services);
    await after.listen("127.0.0.1", Number(new URL(url).port));
    begin(second.services, { id: "new", model: "new-model" });
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("new-model").waitFor();
    expect(await page.getByText("old-model").count()).toBe(0);
    expect(await page.locator("#lost").isVisible()).toBe(false);
    await page.close();
    await after.close(0);
  });

  test("where keys are set it asks for one, keeps it in its tab, and shows nothing before", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up, { listen: { keys: ["T-one"] } });
    begin(proxy.services, { id: "r", model: "hidden-model" });
    const page = await browser.visit(proxy.root);
    await page.getByRole("heading", { name: "This proxy needs a key" }).waitFor();
    expect(await page.locator("#content").isVisible()).toBe(false);
    expect(await page.locator(":focus").getAttribute("id")).toBe("door-key");
    await page.keyboard.type("T-two");
    await page.keyboard.press("Enter");
    await page.getByText("That key is not one of this proxy's.").waitFor();
    await page.keyboard.type("T-one");
    await page.keyboard.press("Enter");
    await page.getByText("hidden-model").waitFor();
    await page.reload();
    await page.getByText("hidden-model").waitFor();
    expect(JSON.stringify([await page.context().storageState(), page.url()])).not.toContain("T-one");
    await page.close();
    const other = await browser.visit(proxy.root);
    await other.getByRole("heading", { name: "This proxy needs a key" }).waitFor();
    await other.close();
  });

  test("is usable by keyboard alone", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    oneOfEach(proxy.services, "m");
    const page = await browser.visit(proxy.root);
    await page.locator("#recent-rows tr").first().waitFor();
    const focused = page.locator(":focus");
    await page.keyboard.press("Tab");
    expect(await focused.textContent()).toBe("Skip to the requests");
    await page.keyboard.press("Enter");
    const stops: (string | null)[] = [];
    for (let presses = 0; presses < 3; presses++) {
      await page.keyboard.press("Tab");
      stops.push(
        await focused.getAttribute("name"),
        await focused.getAttribute("id"),
        await focused.getAttribute("aria-label"),
      );
    }
    expect(stops.filter((stop) => stop !== null)).toEqual([
      "range",
      "recent-filter",
      expect.stringMatching(/^\d\d:\d\d:\d\d, details of request canceled-1$/),
    ]);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await focused.getAttribute("aria-label")).toContain("canceled-1");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.type("healed");
    await page.locator("#recent-rows tr:only-child").waitFor();
    await page.close();
  });

  test("500 requests in flight: each keeps its row, and only what changed is touched", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    const requests = Array.from({ length: 500 }, (_, at) => begin(proxy.services, { id: `r${at}`, model: `m${at}` }));
    const page = await browser.visit(proxy.root);
    await page.getByRole("button", { name: "Show all 500" }).click();
    await page.locator(".run:nth-child(500)").waitFor();
    await page.evaluate(NOTE_TOUCHED_ROWS);
    for (const request of requests.slice(0, 3)) request.tokens = 321;
    for (const request of requests.slice(7, 8)) end(proxy.services, request);
    await page.locator(".run:nth-child(499):last-child").waitFor();
    const touched: string[] = await page.evaluate(
      "[...touched].map((row) => row.querySelector('.run-model').textContent)",
    );
    expect(touched.toSorted()).toEqual(["m0", "m1", "m2", "m7"]);
    await page.close();
  });

  test("a page that nobody sees lets go of its feed, and takes it up again when it is seen", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    const page = await browser.visit(proxy.root);
    await page.getByText("Live", { exact: true }).waitFor();
    await show(page, false);
    await page.getByText("Paused", { exact: true }).waitFor();
    begin(proxy.services, { id: "r", model: "seen-later" });
    await show(page, true);
    await page.getByText("seen-later").waitFor();
    await page.close();
  });

  // Between them both themes and both layouts.
  const looks: readonly (readonly [string, Look])[] = [
    ["light", {}],
    ["dark on a phone", { dark: true, width: 390, height: 844 }],
  ];
  for (const [name, look] of looks) {
    test(`axe finds nothing amiss, ${name}: full, in detail, lost, and locked`, async () => {
      await using up = await startUpstream({ dialect: "llamacpp" });
      await using proxy = await startProxy(up);
      await using locked = await startProxy(up, { listen: { keys: ["T-one"] } });
      const page = await browser.visit(proxy.root, look);
      oneOfEach(proxy.services, "qwen/qwen3-8b");
      begin(proxy.services, { id: "live", promptTokens: 900, tokens: 700, cuts: [300, 700], phase: "joining" });
      await page.locator("#recent-rows tr").first().waitFor();
      await page.locator(".bar-cut").waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      await page.locator("#recent-rows tr", { hasText: "healed" }).click();
      await page.getByRole("dialog").waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await proxy.close();
      await page.getByText("Reconnecting", { exact: true }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.close();
      const door = await browser.visit(locked.root, look);
      await door.getByRole("heading", { name: "This proxy needs a key" }).waitFor();
      expect(await violations(door)).toEqual([]);
      await door.close();
    });
  }

  test("nothing was refused by the page's own policy, and no script failed", () => {
    const refused = browser.complaints.filter((text) => !/net::ERR|status of 401/.test(text));
    expect(refused).toEqual([]);
  });
});

async function widthOf(page: Page, selector: string): Promise<number> {
  return (await page.locator(selector).boundingBox())?.width ?? 0;
}

/** Every row of a live request in which anything is changed, but for its age, which all show anew each second. */
const NOTE_TOUCHED_ROWS = `
  globalThis.touched = new Set();
  new MutationObserver((records) => {
    for (const { target, addedNodes, removedNodes } of records) {
      const element = target instanceof Element ? target : target.parentElement;
      const row = element?.closest(".run");
      if (row && !element.closest(".run-time")) touched.add(row);
      for (const node of [...addedNodes, ...removedNodes]) if (node.matches?.(".run")) touched.add(node);
    }
  }).observe(document.getElementById("now-list"), { childList: true, subtree: true, characterData: true, attributes: true });
`;

/** As a browser would tell a page that its tab was left or entered. */
async function show(page: Page, visible: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${!visible}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}

/** What axe finds, one line each. */
async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not bind.
  await page.evaluate(axe.source);
  const results: AxeResults = await page.evaluate("axe.run()");
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
