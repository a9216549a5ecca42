import { Agent, request } from "node:http";
import { expect, it } from "vitest";
import { startProxy } from "../support/proxy.ts";
import { done, finish, pause, say, startUpstream } from "../support/upstream.ts";

it("a connection that is kept alive does not hold the stop back once its reply has ended", async () => {
  await using up = await startUpstream({ dialect: "vllm" });
  const proxy = await startProxy(up);
  up.next(say("one "), pause(), say("two"), finish("stop"), done());
  const agent = new Agent({ keepAlive: true });
  let text = "";
  const ended = new Promise<void>((resolve) => {
    const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hi" }] });
    const headers = { "content-type": "application/json" };
    request(`${proxy.url}/chat/completions`, { method: "POST", agent, headers }, (response) => {
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", resolve);
    }).end(body);
  });
  await up.reached();
  // Far longer than the test may take: only an idle connection could make it wait.
  const stopped = proxy.stop(600);
  up.release();
  await ended;
  await stopped;
  expect(text).toContain("[DONE]");
  agent.destroy();
  await proxy.services.close();
});
