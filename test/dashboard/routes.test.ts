import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { ASSETS } from "../../src/dashboard/assets.ts";
import type { Services } from "../../src/services.ts";
import { postPlain, postStream } from "../support/client.ts";
import { startProxy } from "../support/proxy.ts";
import { reply, startUpstream } from "../support/upstream.ts";
import { begin, end, oneOfEach } from "./day.ts";
import { readFeed } from "./feed-reader.ts";

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("the page", () => {
  test("is one page with its own script and style, and lets nothing else run", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    const page = await fetch(`${proxy.root}/`, { headers: HTML });
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*/);
    const html = await page.text();
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = ""]) => address);
    expect(addresses.filter((address) => !/^(data:|#)/.test(address))).toEqual([
      "dashboard/page.css",
      "dashboard/page.js",
    ]);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*src=)/);
    for (const [name, type] of [
      ["page.js", "text/javascript"],
      ["page.css", "text/css"],
    ] as const) {
      const file = await fetch(`${proxy.root}/dashboard/${name}`);
      expect([file.status, file.headers.get("content-type")]).toEqual([200, `${type}; charset=utf-8`]);
      expect((await file.text()).length).toBeGreaterThan(1000);
    }
  });

  test("the build makes every one of its files", async () => {
    const { scripts } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
    expect(scripts.build).toMatch(/npm run (--silent )?build:page/);
    for (const name of ASSETS)
      expect(scripts["build:page"]).toContain(`src/dashboard/page/${name.replace(".js", ".ts")} `);
  });
});

describe("where keys are set", () => {
  test("the page comes as a 401 that can ask for one, its files are open, and numbers need the key", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up, { listen: { keys: ["T-one"] } });
    const page = await fetch(`${proxy.root}/`, { headers: HTML });
    expect([page.status, page.headers.get("content-type")]).toEqual([401, "text/html; charset=utf-8"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    // A program gets the error that programs know.
    const bare = await fetch(`${proxy.root}/`);
    expect([bare.status, await bare.json()]).toMatchObject([401, { error: { code: "unauthorized" } }]);
    expect((await fetch(`${proxy.root}/`, { headers: { ...HTML, "x-api-key": "T-one" } })).status).toBe(200);
    for (const name of ["page.js", "page.css"])
      expect((await fetch(`${proxy.root}/dashboard/${name}`)).status).toBe(200);
    await expect(readFeed(proxy.root)).rejects.toThrow("status 401");
    await expect(readFeed(proxy.root, { authorization: "Bearer T-two" })).rejects.toThrow("status 401");
    await using feed = await readFeed(proxy.root, { authorization: "Bearer T-one" });
    expect(await feed.next("first")).toMatchObject({ version: "test" });
  });
});

describe("the feed", () => {
  test("tells what is known at once: upstreams, models, what runs, and how the last requests ended", async () => {
    await using up = await startUpstream({ dialect: "llamacpp", models: ["qwen/qwen3-8b"], window: 4096 });
    await using proxy = await startProxy(up, { models: [{ match: "qwen/*", window: 2048 }] });
    oneOfEach(proxy.services, "qwen/qwen3-8b");
    begin(proxy.services, { id: "now", tokens: 5 });
    await using feed = await readFeed(proxy.root);
    expect(await feed.next("first")).toMatchObject({ version: "test" });
    expect(await feed.next("live")).toMatchObject([{ id: "now", tokens: 5, phase: "flowing" }]);
    // Asked while somebody looks: no request has gone by yet.
    expect(await feed.next("upstreams")).toMatchObject([{ name: "up", unready: null }]);
    await using second = await readFeed(proxy.root);
    const models = await second.next("models");
    expect(models).toEqual([
      {
        upstream: "up",
        model: "qwen/qwen3-8b",
        window: 2048,
        source: "config",
        maxOutput: null,
        reasoning: false,
        continuation: { way: "prefill", known: "documented" },
      },
    ]);
    expect((await second.next("ended")).map(({ outcome }) => outcome)).toEqual([
      "canceled",
      "failed",
      "rejected",
      "malformed",
      "cut_off",
      "healed",
      "complete",
    ]);
  });

  test("tells of the way in which the next cut reply is really gone on with", async () => {
    await using up = await startUpstream({ dialect: "llamacpp", models: ["m"] });
    await using proxy = await startProxy(up);
    up.next(...reply("Hello"));
    await postStream(`${proxy.url}/chat/completions`, { model: "m", messages: [{ role: "user", content: "Hi" }] });
    proxy.services.knowledge.of("up", "m").resumes["chat||"] = "refused";
    await using feed = await readFeed(proxy.root);
    expect(await feed.next("models")).toMatchObject([{ model: "m", continuation: { way: "raw", known: "seen" } }]);
  });

  test("says of an upstream that does not answer that it does not", async () => {
    await using proxy = await startProxy({ url: "http://127.0.0.1:9/v1", dialect: "generic" });
    await using feed = await readFeed(proxy.root);
    await feed.next("first");
    expect(await feed.next("upstreams")).toMatchObject([{ unready: "up at 127.0.0.1:9 gives no answer" }]);
  });

  test("tells of a prompt that was turned away how large it was, and how that was counted", async () => {
    await using up = await startUpstream({ dialect: "llamacpp", window: 512 });
    await using proxy = await startProxy(up);
    await using feed = await readFeed(proxy.root);
    const ask = { model: "m", messages: [{ role: "user", content: "words ".repeat(2000) }] };
    expect((await postPlain(`${proxy.url}/chat/completions`, ask)).status).toBe(400);
    const [ended] = await feed.next("ended");
    expect(ended).toMatchObject({
      outcome: "rejected",
      window: 512,
      countMethod: expect.stringMatching(/^(exact|estimate;bound=\d+)$/),
    });
    expect(ended?.promptTokens).toBeGreaterThan(512);
  });

  test("never holds anything of a prompt, a reply or a key", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up, { listen: { keys: ["T-secret-key"] } });
    const headers = { authorization: "Bearer T-secret-key" };
    await using feed = await readFeed(proxy.root, headers);
    up.next(...reply("the secret reply"));
    const ask = { model: "m", messages: [{ role: "user", content: "a secret prompt" }] };
    expect((await postStream(`${proxy.url}/chat/completions`, ask, headers)).text()).toBe("the secret reply");
    expect(await feed.next("ended")).toMatchObject([{ outcome: "complete" }]);
    expect(feed.text()).not.toContain("secret");
  });

  test("ends when lastword stops, so that an open page does not hold the stop up", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    const proxy = await startProxy(up);
    const app = createApp(proxy.services);
    const { url } = await app.listen("127.0.0.1", 0);
    const feed = await readFeed(url);
    await feed.next("first");
    const closed = app.close(3600);
    await feed.ended();
    await closed;
    await proxy.close();
  });

  test("costs nothing when nobody looks: all that it uses is let go when the page is closed", async () => {
    await using up = await startUpstream({ dialect: "llamacpp" });
    await using proxy = await startProxy(up);
    const watched = watching(proxy.services);
    const app = createApp(watched.services);
    const { url } = await app.listen("127.0.0.1", 0);
    expect(watched.now()).toEqual({ subscriptions: 0, watchers: 0 });
    const feeds = [await readFeed(url), await readFeed(url)];
    for (const feed of feeds) await feed.next("first");
    expect(watched.now()).toEqual({ subscriptions: 2, watchers: 2 });
    for (const feed of feeds) await feed.leave();
    await watched.until(({ subscriptions, watchers }) => subscriptions + watchers === 0);
    end(proxy.services, begin(proxy.services, { id: "unseen" }));
    await app.close(0);
  });
});

interface Used {
  readonly subscriptions: number;
  readonly watchers: number;
}

/** Services that count what their users hold of them. */
function watching(services: Services) {
  const used = { subscriptions: 0, watchers: 0 };
  let onChange = (): void => undefined;
  const change = (what: keyof Used, by: number) => {
    used[what] += by;
    onChange();
  };
  const counted: Services = {
    ...services,
    bus: {
      emit: services.bus.emit,
      subscribe(subscriber) {
        const leave = services.bus.subscribe(subscriber);
        change("subscriptions", 1);
        return () => {
          leave();
          change("subscriptions", -1);
        };
      },
    },
    board: {
      ...services.board,
      async *watch(everyMs, signal) {
        change("watchers", 1);
        yield* services.board.watch(everyMs, signal);
        change("watchers", -1);
      },
    },
  };
  return {
    services: counted,
    now: () => ({ ...used }),
    until: (done: (used: Used) => boolean) =>
      new Promise<void>((resolve) => {
        onChange = () => {
          if (done(used)) resolve();
        };
        onChange();
      }),
  };
}
