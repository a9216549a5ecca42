import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postPlain, postStream } from "../support/client.ts";
import { startUpstream } from "../support/upstream.ts";
import { recite } from "../support/upstream-recite.ts";
import { buildImage, type Image, runImage } from "./image.ts";
import { has, run } from "./tools.ts";

const canConfine =
  has("unshare", "apt-get install util-linux") &&
  has("setpriv", "apt-get install util-linux") &&
  (await run("unshare", ["--mount", "true"])).code === 0;
if (!canConfine) console.warn("SKIPPED: running the image's files as another user needs root and mount namespaces");

const LONG = "recite ".repeat(300);

describe("the files of the image", () => {
  let image: Image;
  beforeAll(async () => {
    image = await buildImage();
  }, 60_000);
  afterAll(() => image.remove());

  test("the bundle and package.json, and no package", () => {
    expect(readdirSync(image.folder)).toEqual(["app"]);
    expect(readdirSync(join(image.folder, "app")).toSorted()).toEqual(["dist", "package.json"]);
    const files = readdirSync(join(image.folder, "app/dist"), { recursive: true }).map(String);
    expect(files.filter((name) => name.includes("node_modules") || name.endsWith(".ts"))).toEqual([]);
  });

  test.skipIf(!canConfine)(
    "run as another user on a read-only file system: page, workers, healing, health check, an orderly end",
    async () => {
      await using up = await startUpstream({ dialect: "generic", window: 1024 });
      const text = Array.from({ length: 40 }, (_, at) => `Step ${at} takes ${at * at} turns.`).join(" ");
      up.handle(recite({ byUser: { [LONG]: text, "a number": '{"a": "no number"}' } }));
      const env = {
        NODE_ENV: "production",
        LASTWORD_HOST: "0.0.0.0",
        LASTWORD_PORT: "0",
        LASTWORD_UPSTREAM: up.url,
        LASTWORD_WINDOW: "1024",
      };
      await using running = await runImage(image, { ...env, LASTWORD_LOG_LEVEL: "error" });
      expect(
        await running.exec(["sh", "-c", "test $(id -u) = 65534 && ! touch /app/x dist/x /tmp/x 2>/dev/null"]),
      ).toBe(0);
      for (const path of ["/", "/dashboard/page.js", "/dashboard/page.css", "/readyz", "/metrics"])
        expect((await fetch(`${running.url}${path}`)).status, path).toBe(200);
      const ask = (content: string) => ({ model: "m", max_tokens: 100, messages: [{ role: "user", content }] });
      const reply = await postStream(`${running.url}/v1/chat/completions`, ask(LONG));
      expect([reply.text(), reply.finish()]).toEqual([text, "stop"]);
      // Longer in bytes than the window in tokens: the tokenizer's thread has counted it.
      expect(reply.headers["x-lastword-count-method"]).toMatch(/^estimate;bound=/);
      const schema = { type: "object", properties: { a: { type: "number" } } };
      const format = { type: "json_schema", json_schema: { name: "one", schema } };
      const answer = await postPlain(`${running.url}/v1/chat/completions`, {
        ...ask("a number"),
        response_format: format,
      });
      // The validator's thread has read it against its schema.
      expect(answer.headers["x-lastword-outcome"]).toBe("malformed");
      expect(await running.exec(image.healthcheck)).toBe(0);
      expect(await running.stop()).toBe(0);
      expect(await running.exec(image.healthcheck)).toBe(1);
    },
    60_000,
  );
});
