import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { http, startBare } from "../support/bare.ts";
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

it("a reply that has ended, and that its client is still reading, reaches it whole", async () => {
  const content = "x".repeat(16_000_000);
  const reply = JSON.stringify({ choices: [{ index: 0, message: { content }, finish_reason: "stop" }] });
  await using up = await startBare(({ socket }) => void socket.write(http(reply)));
  const proxy = await startProxy(up);
  const client = connect(Number(new URL(proxy.root).port), "127.0.0.1");
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
  client.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  let received = 0;
  client.pause();
  await proxy.finished();
  const stopped = proxy.stop(600);
  // Some rounds of looking for idle connections.
  await sleep(200);
  client.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  client.resume();
  await once(client, "close");
  await stopped;
  expect(received).toBeGreaterThan(reply.length);
  await proxy.services.close();
});
