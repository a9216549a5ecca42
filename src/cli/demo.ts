import { once } from "node:events";
import { demoRequest, hear } from "../demo/hear.ts";
import { RECITAL } from "../demo/model.ts";
import { type Canvas, picture } from "../demo/picture.ts";
import { startDemoUpstream } from "../demo/upstream.ts";

/** Small enough to cut the recital, large enough to be meant as an accident. */
const CAP = 80;
const WINDOW = 4096;
/** The pace of a fast local model. */
const TOKEN_MS = 8;

export interface DemoOptions {
  /** Leave server and proxy running until a signal. */
  readonly keep: boolean;
  /** The server cannot resume its own messages. */
  readonly nudge: boolean;
}

/** Starts the proxy in front of a server. `url`: `http://HOST:PORT`. */
export type StartProxy = (upstreamUrl: string) => Promise<{ readonly url: string; close(): Promise<void> }>;

/** `process.stdout`, or what a test has in its place. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
  write(text: string): unknown;
}

/**
 * A request that gets cut, straight from a small embedded server and through the proxy, shown beside each other.
 *
 * @returns the exit code: 0, or 1 where the reply through the proxy is not whole
 */
export async function demo({ keep, nudge }: DemoOptions, startProxy: StartProxy, screen: Screen): Promise<number> {
  const upstream = await startDemoUpstream({ window: WINDOW, resumes: !nudge, tokenMs: TOKEN_MS });
  try {
    const proxy = await startProxy(upstream.url);
    try {
      const request = demoRequest(CAP);
      const [straight, healed] = await Promise.all([hear(upstream.url, request), hear(`${proxy.url}/v1`, request)]);
      const whole = healed.text === RECITAL && healed.finishReason === "stop";
      screen.write(picture({ cap: CAP, straight, healed, whole }, canvasOf(screen)));
      if (keep) {
        screen.write(invitation(upstream.url, `${proxy.url}/v1`));
        await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
      }
      return whole ? 0 : 1;
    } finally {
      await proxy.close();
    }
  } finally {
    await upstream.close();
  }
}

function canvasOf(screen: Screen): Canvas {
  if (screen.isTTY !== true) return { columns: null, colour: false };
  return { columns: screen.columns ?? 80, colour: screen.hasColors?.() === true };
}

/** Double quotes throughout: they mean the same to a POSIX shell and to cmd.exe. */
function invitation(upstreamUrl: string, proxyUrl: string): string {
  const body = JSON.stringify(JSON.stringify(demoRequest(CAP)));
  return [
    "Both go on until you press Ctrl-C.",
    `  server   ${upstreamUrl}`,
    `  proxy    ${proxyUrl}`,
    `  curl -N ${proxyUrl}/chat/completions -H "content-type: application/json" -d ${body}`,
    "",
    "",
  ].join("\n");
}
