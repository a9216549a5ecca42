import { afterAll, beforeAll, expect, test } from "vitest";
import { demoRequest, hear } from "../../src/demo/hear.ts";
import { RECITAL } from "../../src/demo/model.ts";
import { buildBundle } from "../support/bundle.ts";
import { runCommand } from "../support/command.ts";

let main = "";
let remove = () => {};
beforeAll(async () => {
  ({ main, remove } = await buildBundle());
}, 60_000);
afterAll(() => remove());

test.skipIf(process.platform === "win32")("demo --keep goes on until it is told to end", async () => {
  await using demo = runCommand(main, ["demo", "--keep"]);
  const curl = await demo.says("  curl -N ");
  const url = (line: string) => /http:\S+\/v1/.exec(line)?.[0] ?? "";
  const server = url(await demo.says("  server   "));
  const proxy = url(await demo.says("  proxy    "));
  expect(curl).toContain(`${proxy}/chat/completions`);

  expect((await hear(server, demoRequest(80))).finishReason).toBe("length");
  expect((await hear(proxy, demoRequest(80))).text).toBe(RECITAL);
  demo.kill("SIGINT");
  expect(await demo.ended).toBe(0);
});
